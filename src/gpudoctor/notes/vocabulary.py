"""What stands beside a number with a unit: what it is of, and of which time it tells.

The unit tells most (`stated_amounts`); a word is needed where one unit has many meanings. A number whose words are not known is left out.
"""

from __future__ import annotations

from gpudoctor.patterns import regex

# The text is about GPUs: "8 GPUs", "on an H100", "RTX 4090", or about the ranks of a job
GPU = regex(
    r"\branks?\b|\bNCCL\b|torchrun|\bGPUs?(?![a-z])|\bGPU[-_]|nvidia|\bcuda\b|\bDCGM|\bVRAM\b|\bgraphics cards?\b"
    r"|\b(?:Tesla |RTX ?(?:PRO )?|GTX ?|GeForce |Quadro )?(?:GB[23]00|[ABHVL]\d{2,3}S?|T4|L4|[2345]0[5-9]0)(?: ?(?:Ti|SXM\d?|PCIe"
    r"|NVL))?\b(?! ?[%°])",
    2,
)
# Somebody has the GPUs: "rank 3", "the training", `srun`, "allocated"
JOB = regex(
    r"\brank|torchrun|\bsrun\b|\bsbatch|deepspeed|\bjobs?\b|\btrain(?:ing|er|s)?\b|train\.py|\bvllm|\bNCCL\b|\ballocated|\bpods?\b"
    r"|\btasks?\b",
    2,
)
HELD = regex(r"\ballocated|\bheld\b|\bholds?\b|\breserved|\bassigned|\bhas (?:it|them)\b|\bowns?\b", 2)
# GPU-Util 100 %  |  100% busy
USE = regex(r"util|\busage|\bload\b|\bbusy\b|\bGPU\W{0,4}$", 2)
ACTIVE = regex(r"\bSM[_ -]?ACT\w*|\bSMs?\b.{0,12}activ|\bSMACT\b", 2)
TENSOR = regex(r"TENSOR[_ ]?(?:CORES?[_ ])?ACT\w*|\bTENSO\b|tensor (?:core|pipe)s? (?:active|activity|use|util)", 2)
DRAM = regex(r"\b(?:DRAM|HBM)[_ ]?ACT\w*|\bDRAMA\b", 2)
# Per cent of anything else.
OTHER = regex(
    r"\bcpus?\b|\bdisks?\b|\bloss|\bacc(?:uracy)?\b|\b[mh]fu\b|\bfans?\b|\bpacket|\bprogress|\bepoch|\bmem\w*|\bvram|\bcache|\bhit|\bio\b"
    r"|iowait|\bswap|\bram\b|\bthread|\bdone|\bcomplet|\btok|\berr(?:or)?s?\b|\bp\d\d\b|\bfaster|\bslower|\bpeak\b|flop|bandwidth"
    r"|\bof (?:the )?(?:time|step|wall|runs?|requests?|cases|samples)|\boverhead|\bspars|\bkernel|\bdiscount|\bncclkernel|\bbattery"
    r"|\bhumidity|\bnet(?:work)?\b|\bpcie\b|\bnvlink|\bocc\w*|\bdrop|\bless\b|\bmore\b|\bunder\b|\bover\b|\brise|\bincreas|\bdecreas"
    r"|\breduc|\bsav(?:e|ing)|\bquota|\bstorage|\bslots?\b|\bnodes? (?:used|alloc)|\bcluster\b|\bqueue|\bcode\b|\bcoverage",
    2,
)
# Per cent of the power that a card may draw.
OF_POWER = regex(r"\bTDP\b|\bTGP\b|\bpower|\blimit|\bcap\b", 2)
# Watts of something else, of several cards together, or of a moment.
OTHER_POWER = regex(
    r"\bpsus?\b|\brack|\bchassis|\bcpus?\b|\bsocket|\bpackage|\bserver (?:power|draws?)|\bwall\b|suppl(?:y|ies)\b|\bups\b|\bpdus?\b"
    r"|\bsystem (?:power|draw)|\bnode (?:power|draw)|\btotal\b|\bsum\b|\bpeak|\bspike|\bcooling|\bheat ?sink|\bdimm|\bdram power"
    r"|\bhba\b|\bnic\b|\bswitch\b|\bswitches\b|\bbaseboard|\bsavings?\b|\bidle (?:power|draw)|\bidles? at",
    2,
)
LIMIT = regex(r"\bcap\w*|limit\w*|\bTDP\b|\bTGP\b|\bmax\w*|ceiling|\brated\b|\bbudget|\bpl\b", 2)
DEFAULT = regex(r"default|factory|vendor|\bstandard|\bnormal|\busual|nominal|\bstock\b|original", 2)
INSTEAD = regex(r"\b(?:not|instead of|rather than)\b|(?<=[ (,])vs\.?\b", 2)
# The second of two amounts is what the first may be: "209 W of 700 W", "210 / 1980 MHz".
OUT_OF = regex(
    r"\W{0,3}(?:/|\||\bof\b|\bout of\b)\s{0,3}(?:(?:the|its|a|max\w*\.?|possible|rated|limit\w*)\s{0,2}){0,2}[~(=:]?\s{0,2}\Z", 2
)
CHANGE = regex(r"->|→|=>|⇒|\bto\b", 2)
# Not the clock of the SMs, not the temperature of the die.
OTHER_CLOCK = regex(
    r"\bmem\w*|\bcpus?\b|\bddr|\bram\b|\bbase\b|\bboost|\bvram|\bhbm|\bvideo|\bpcie|\bcores? (?:i\d|xeon)|\bdef\w*|\bapp\w*", 2
)
OTHER_HEAT = regex(
    r"thrott|slowdown|limit|\bmax|shut|\bmem|\bhbm|junction|ambient|inlet|room|\bcpu|thresh|target|water|coolant|hot ?spot", 2
)
OTHER_MEMORY = regex(
    r"\bram\b|\bhost|\bdis[ck]|\bswap|\bfile|\bmodel|\bcheckpoint|\bweights?|\bsystem|\bcpu|\bshm|\bstorage|/dev|/mnt|\bnvme"
    r"|\bdataset|\bcache|\bdownload|\bupload|\bread\b|\bwritten|\bcgroup|\bcontainer|\bpod\b|\brss\b|\bpeak",
    2,
)
# "zero processes", "no process holds it"
NO_PROGRAM = regex(
    r"(?:\b(?:no|zero|without(?: any)?)|(?<![\w.,])0)(?: (?:running|compute|active|gpu|listed|client|cuda))?"
    r" ?(?:process|compute apps|programs?\b|pids?\b)|process(?:es|list)?(?: list)?(?: is| are)?[:= ]{1,3}(?:empty|none|0\b|-)",
    2,
)
REASON = regex(
    r"(?<![\w.])((?:sw|hw)[ _](?:power[ _](?:cap(?:ping)?|brake(?:[ _]slowdown)?|braking)|therm(?:al)?[ _]slowdown|slowdown))\b", 2
)
NOT_ACTIVE = regex(r".{0,14}?(?:\bnot\b|inactiv|\bno\b|\boff\b|false|= ?0)", 2)
# What is said of no machine: a rule, a doc, a wish.
SUPPOSED = regex(
    r"\bdoes(?:n't| not) (?:mean|say|imply|tell)|\bif\b|\bshould|\bwhenever|\bexpect|\btypical|\be\.g\.|\bfor example|\bthreshold|\balert"
    r"|\brules?\b|\bmeans\b|\bindicat|\bsuggests?\b|\bwould|\bcould|\bmight|\btarget\b|\bgoal|\bplanned|\bestimate|\brecommend",
    2,
)
# A healthy value beside the one that is told.
USUAL = regex(
    r"\bhealthy|\bnominal\b|\busually|\bnormally|\bbaseline|\bnormal (?:is|range|load|run|would)|\bvs\.? (?:the )?usual"
    r"|\bor so (?:usually|normally)",
    2,
)
BEFORE = regex(r"\bbefore\b|\bpreviously|\bearlier|\byesterday|\bused to", 2)
AFTER = regex(r"\bafter\b|\bnow\b|\btoday|\bsince then", 2)
REPAIRED = regex(r"(?<!not )(?<!not yet )(?<!never )(?<!to be )\b(?:fixed|resolved|solved|recovered|restored|repaired|back to normal)", 2)
OTHERS = regex(r"\bothers?\b|\bthe rest\b|\bremaining", 2)
SEVERAL = regex(
    r"\bGPUs\b|\b(?:all|every|each|both)\b[^\w]{0,2}(?:[^\s\d]{1,14}\s){0,2}?(?:\d{1,4}\s?)?[x×]?\s?(?:\w{0,10}\s)?"
    r"(?:GPU|cards?\b|ranks?\b|workers?\b|[ABH]\d00)|\ball (?:of them )?(?:at|sit|show|stuck)\b|\bcards\b",
    2,
)
# "for 36 min", "since 2 h", "for days"
LASTING = regex(
    r"\b(?:for|since|keeps?|stays?)\b ?(?:over |more than |at least |the last |the past |ca\.? |about |~ ?|> ?|≥ ?)?"
    r"(\d{1,4}(?:[.,]\d{1,2})?)?\+? ?(s(?:ec(?:onds?)?)?|min(?:utes?)?|h(?:ours?|rs?)?|days?)(?![\w/])",
    2,
)
