"""What stands beside a number with a unit, in the languages in which people write notes: what it is of, and of which time it tells.

The unit tells most (`stated_amounts`); a word is needed where one unit has many meanings. A number whose words are not known is left out.
"""

from __future__ import annotations

from gpudoctor.patterns import regex

# The text is about GPUs: "8 GPUs", "on an H100", "RTX 4090", 显卡, or about the ranks of a job
GPU = regex(
    r"\branks?\b|\bNCCL\b|torchrun|\bGPUs?(?![a-z])|\bGPU[-_]|nvidia|\bcuda\b|\bDCGM|显卡|显存|グラボ|\bVRAM\b|\bgraphics cards?\b"
    r"|видеокарт"
    r"|\b(?:Tesla |RTX ?(?:PRO )?|GTX ?|GeForce |Quadro )?(?:GB[23]00|[ABHVL]\d{2,3}S?|T4|L4|[2345]0[5-9]0)(?: ?(?:Ti|SXM\d?|PCIe"
    r"|NVL))?\b(?! ?[%°])",
    2,
)
# Somebody has the GPUs: "rank 3", "the training", `srun`, "allocated"
JOB = regex(
    r"\brank|torchrun|\bsrun\b|\bsbatch|deepspeed|\bjobs?\b|\btrain(?:ing|er|s)?\b|train\.py|\bvllm|\bNCCL\b|\ballocated|\bpods?\b"
    r"|\btasks?\b"
    r"|训练|学習|학습|обучени|Trainingslauf|entra[iî]nement|entrenamiento|treinamento|trening|任务|作业|ジョブ|задач",
    2,
)
HELD = regex(
    r"\ballocated|\bheld\b|\bholds?\b|\breserved|\bassigned|\bhas (?:it|them)\b|\bowns?\b|\bbelegt|\breserviert|占用|分配|занят"
    r"|выделен|割り当て|할당|\bréserv|\basignad|\bprzydziel",
    2,
)
# GPU-Util 100 %  |  100% busy  |  利用率 100%
USE = regex(
    r"util|\busage|\bload\b|\bbusy\b|\bGPU\W{0,4}$|利用率|使用率|占用率|稼働率|負荷|사용률|이용률|auslast|\blast\b|\bcarga\b|\buso\b"
    r"|\bcharge\b"
    r"|utilizza|wykorzyst|obci[aą][zż]|загру|использов|утилиз|нагруз|kullan|belast|gebruik|använd|\bucc?upa",
    2,
)
ACTIVE = regex(r"\bSM[_ -]?ACT\w*|\bSMs?\b.{0,12}(?:activ|aktiv|aktywn|активн|活跃|active|稼働)|\bSMACT\b", 2)
TENSOR = regex(r"TENSOR[_ ]?(?:CORES?[_ ])?ACT\w*|\bTENSO\b|tensor (?:core|pipe)s? (?:active|activity|use|util)", 2)
DRAM = regex(r"\b(?:DRAM|HBM)[_ ]?ACT\w*|\bDRAMA\b", 2)
# Per cent of anything else.
OTHER = regex(
    r"\bcpus?\b|\bdis[ck]s?\b|\bloss|\bacc(?:uracy)?\b|\b[mh]fu\b|\bfans?\b|\bpacket|\bprogress|\bepoch|\bmem\w*|\bvram|显存|内存"
    r"|メモリ|памят|speicher"
    r"|pamięc|\bmémoire|\bmemoria|\bcache|\bhit|\bio\b|iowait|\bswap|\bram\b|\bthread|\bdone|\bcomplet|\btok|\berr(?:or)?s?\b"
    r"|\bp\d\d\b|\bfaster"
    r"|\bslower|\bpeak\b|flop|bandwidth|\bof (?:the )?(?:time|step|wall|runs?|requests?|cases|samples)|\boverhead|\bspars|\bkernel"
    r"|\bdiscount"
    r"|\bncclkernel|\bbattery|\bhumidity|\bnet(?:work)?\b|\bpcie\b|\bnvlink|\bocc\w*|\bdrop|\bless\b|\bmore\b|\bunder\b|\bover\b"
    r"|\brise|\bincreas|\bdecreas|\breduc|\bsav(?:e|ing)|\bquota|\bstorage|\bslots?\b|\bnodes? (?:used|alloc)|\bcluster\b|\bqueue"
    r"|\bcode\b|\bcoverage"
    r"|进度|准确率|风扇|磁盘|丢包|损失|缓存|чтени|процессор|диск|вентил",
    2,
)
# Per cent of the power that a card may draw.
OF_POWER = regex(
    r"\bTDP\b|\bTGP\b|\bpower|power (?:limit|cap)|功耗|功率|\bmoc[ay]?\b|мощност|leistung|potencia|puissance|電力|전력|\blimit"
    r"|\bcap\b",
    2,
)
# Watts of something else, of several cards together, or of a moment.
OTHER_POWER = regex(
    r"\bpsus?\b|\brack|\bchassis|\bcpus?\b|\bsocket|\bpackage|\bserver (?:power|draws?)|\bwall\b|suppl(?:y|ies)\b|\bups\b|\bpdus?\b"
    r"|\bsystem (?:power|draw)|\bnode (?:power|draw)|\btotal\b|\bsum\b|\bpeak|\bspike|\bpico\b|\bspitze|\bпик|峰值|ピーク|最大消費"
    r"|netzteil|блок[аи]? питания|电源|zasilacz"
    r"|\bfonte\b|\balimenta|\bcooling|\bheat ?sink|\bdimm|\bdram power|\bhba\b|\bnic\b|\bswitch\b|\bswitches\b|\bbaseboard"
    r"|\bsavings?\b|\bidle (?:power|draw)|\bidles? at",
    2,
)
LIMIT = regex(
    r"\bcap\w*|limit\w*|límite|лимит|предел|上限|限制|制限|제한|한도|\bTDP\b|\bTGP\b|\bmax\w*|\bgrenze|ceiling|\brated\b|\bbudget"
    r"|功耗墙|plafond|\btecho|\btope\b"
    r"|sufit|\bgräns|\bgrens|\bpl\b|\btetto\b|限额|封顶",
    2,
)
DEFAULT = regex(
    r"default|factory|vendor|werks|\bstandard|по умолчанию|défaut|predetermin|por defecto|predefini|默认|既定|標準|デフォルト|기본"
    r"|domyśln|padrão"
    r"|\bnormal|\busual|nominal|\bstock\b|заводск|出厂|varsayılan|original",
    2,
)
INSTEAD = regex(
    r"\b(?:not|instead of|rather than|statt|anstatt|anstelle|вместо|а не|zamiast|nie|au lieu d[eu']|non|en (?:lugar|vez) de|y no"
    r"|em vez de|al posto d\w*"
    r"|invece d\w*|i stället för|in plaats van|nicht)\b|而不是|而非|不是|ではなく|대신|(?<=[ (,])vs\.?\b",
    2,
)
# The second of two amounts is what the first may be: "209 W of 700 W", "210 / 1980 MHz".
OUT_OF = regex(
    r"\W{0,3}(?:/|\||\bof\b|\bout of\b|\bvo[nm]\b|\bd[eu]\b|\bsur\b|\bdi\b|\bsu\b|из|\bze?\b|\bav\b|\bvan\b|の|중)\s{0,3}(?:(?:the"
    r"|its|a|max\w*\.?|possible|rated|limit\w*|лимита"
    r"|możliwych|möglichen|limitu)\s{0,2}){0,2}[~(=:]?\s{0,2}\Z",
    2,
)
CHANGE = regex(r"->|→|=>|⇒|\bto\b|\bauf\b|\bdo\b|\bдо\b|到|至|から", 2)
# Not the clock of the SMs, not the temperature of the die.
OTHER_CLOCK = regex(
    r"\bmem\w*|\bcpus?\b|\bddr|\bram\b|\bbase\b|\bboost|显存|内存|\bvram|\bhbm|\bvideo|\bpcie"
    r"|\bcores? (?:i\d|xeon)|памят|speicher|\bdef\w*|\bapp\w*",
    2,
)
OTHER_HEAT = regex(
    r"thrott|slowdown|limit|\bmax|shut|\bmem|\bhbm|junction|ambient|inlet|room|\bcpu|thresh|target|water|coolant"
    r"|raum|umgeb|室温|进风|воздух|hot ?spot",
    2,
)
OTHER_MEMORY = regex(
    r"\bram\b|\bhost|\bdis[ck]|\bswap|\bfile|\bmodel|\bcheckpoint|\bweights?|\bsystem|\bcpu|\bshm|\bstorage|/dev|/mnt|\bnvme"
    r"|\bdataset|\bcache|内存|硬盘|磁盘"
    r"|\bdownload|\bupload|\bread\b|\bwritten|\bcgroup|\bcontainer|\bpod\b|\brss\b|\bpeak",
    2,
)
# "zero processes", "no process holds it", 无进程
NO_PROGRAM = regex(
    r"(?:\b(?:no|zero|without(?: any)?|keine?|ohne|aucun|sans|ning[uú]n|sin|nessun|brak|żadnych|нет|без|inga|geen|nenhum|sem)"
    r"|(?<![\w.,])0)"
    r"(?: (?:running|compute|active|gpu|laufenden?|active?s?|listed|client|cuda))? ?(?:process|prozess|proces[oeis]|proc[eé]s|процесс"
    r"|compute apps|programs?\b|pids?\b)"
    r"|无(?:任何)?进程|没有(?:任何)?进程|进程数?[:= ]{0,3}(?:为 ?)?[0无]|プロセス(?:は)?(?:なし|無し|ない|0)|프로세스(?:가"
    r"|는)? ?(?:없|0)"
    r"|process(?:es|list)?(?: list)?(?: is| are)?[:= ]{1,3}(?:empty|none|0\b|-)",
    2,
)
REASON = regex(
    r"(?<![\w.])((?:sw|hw)[ _](?:power[ _](?:cap(?:ping)?|brake(?:[ _]slowdown)?|braking)|therm(?:al)?[ _]slowdown|slowdown))\b", 2
)
NOT_ACTIVE = regex(r".{0,14}?(?:\bnot\b|inactiv|\bno\b|\boff\b|false|= ?0|nicht|inattiv|未|неактив|没有|nieakt|非)", 2)
# What is said of no machine: a rule, a doc, a wish.
SUPPOSED = regex(
    r"\bdoes(?:n't| not) (?:mean|say|imply|tell)|\bif\b|\bshould|\bwhenever|\bexpect|\btypical|\be\.g\.|\bfor example|\bthreshold"
    r"|\balert|\brules?\b|\bmeans\b|\bindicat"
    r"|\bsuggests?\b|\bwould|\bcould|\bmight"
    r"|\bwenn\b|\bfalls\b|\bsollte|\bz\. ?B\.|\bcuando\b|\bquando\b|\bjeśli|\bgdy\b|если|когда|должн|如果|若|应该|例如|预期|もし|場合"
    r"|べき|만약|경우|\blorsque|\bdevrait|\bdeber"
    r"|\bdovrebb|\bpowin|\btarget\b|\bgoal|\bplanned|\bestimate|\brecommend|\bbedeutet|\bsignifi|\bozna(?:cz|k)|означает|意味|说明"
    r"|表示",
    2,
)
# A healthy value beside the one that is told.
USUAL = regex(
    r"\bhealthy|\bnominal\b|\busually|\bnormally|\bbaseline|\bnormal (?:is|range|load|run|would)"
    r"|\bnormalerweise|\bobvykle|\bzwykle|\bgesund"
    r"|\bsain|\bsano|обычно|正常|通常|정상|\bvs\.? (?:the )?usual"
    r"|\bnormalement|\bnormalmente|\bor so (?:usually|normally)",
    2,
)
BEFORE = regex(
    r"\bbefore\b|\bpreviously|\bearlier|\byesterday|\bvorher|\bfrüher|\bgestern|\bantes\b|\bavant\b|\bprima\b|\bprzed|wcześniej"
    r"|\bраньше|\bдо этого|之前|原来|以前|昨天|もともと"
    r"|이전|\bused to|\binnan|\bönce",
    2,
)
AFTER = regex(
    r"\bafter\b|\bnow\b|\btoday|\bnachher|\bjetzt|\bheute|\bdanach|\bdespués|\bahora|\bmaintenant|\baprès|\bdopo|\badesso|\bora\b"
    r"|\bteraz|\bpotem|\bпосле|\bтеперь|\bсейчас|之后|现在|目前|修复后"
    r"|今は|現在|이후|지금|\bşimdi|\bnu\b|\bsince then|\bagora|\bdepois",
    2,
)
REPAIRED = regex(
    r"(?<!not )(?<!not yet )(?<!never )(?<!to be )\b(?:fixed|resolved|solved|recovered|restored|repaired|back to normal|behoben"
    r"|gelöst|repariert|résolu|corrigé|réparé|resuelto"
    r"|arreglado|solucionado|resolvido|corrigido|risolto|naprawion|rozwiązan|opgelost|löst\b|исправлен|устран|решен[оа]?\b|восстановл"
    r"|çözüldü)"
    r"|已?修复|已?解决|恢复了?正常|已恢复|解決(?:済|し)|直った|復旧|해결|복구",
    2,
)
OTHERS = regex(
    r"\bothers?\b|\bthe rest\b|\bremaining|\b(?:alle )?anderen|\bübrigen|остальн|други[ех]|其余|其他|另外|\bles autres|\blos demás"
    r"|\bel resto|\bas outras|\bgli altri|\bpozostał|\breszta"
    r"|残り|ほか|他の|나머지|\bde andra|\bde rest|\bdiğer",
    2,
)
SEVERAL = regex(
    r"\bGPUs\b|(?:\b(?:all|every|each|both|alle|jede\w?|beide|tou(?:te)?s|tod[oa]s|tutt[ei]|ambas|wszystkie|obie|все|каждая|обе|hepsi"
    r"|tüm|alla)\b|所有|全部|每|各|全|모든|각)"
    r"[^\w]{0,2}(?:[^\s\d]{1,14}\s){0,2}?(?:\d{1,4}\s?)?(?:[x×]|张|块|枚|个|개의|台)?\s?(?:\w{0,10}\s)?(?:GPU|cards?\b|ranks?\b|卡"
    r"|Karten|cartes|tarjetas|karty|карты|schede|workers?\b|[ABH]\d00)"
    r"|\ball (?:of them )?(?:at|sit|show|stuck)\b|\b(?:cards|Karten|cartes|tarjetas|karty|карты)\b",
    2,
)
# "for 36 min", "seit 2 h", 持续 40 分钟, "for days"
LASTING = regex(
    r"(?:\bfor\b|\bsince\b|\büber|\bseit|\bpendant|\bdepuis|\bdurante|\bdesde hace|\bda\b|\bprzez|\bod\b|\bза\b|в течение|\bуже\b"
    r"|持续了?|已经?|経過|동안|\bi\b|\bkeeps?\b|\bstays?\b)"
    r" ?(?:over |more than |at least |the last |the past |ca\.? |about |~ ?|> ?|≥ ?|um |o |mehr als |więcej niż |более |超过|约|近)?"
    r"(\d{1,4}(?:[.,]\d{1,2})?)?\+? ?"
    r"(s(?:ec(?:onds?)?|ekund\w*)?|min(?:utes?|uten|utos?|uti|ut[yę]?)?|h(?:ours?|eures?|oras?|rs?)?|st(?:unden?|d)\.?|days?|tage?n?"
    r"|jours?|d[ií]as?|giorni|dni|ore|godzin\w*|минут\w*|мин|час\w*|ч"
    r"|дн\w*|сут\w*|分钟|小时|天|日|分間?|時間|시간|분|일)(?![\w/])",
    2,
)
