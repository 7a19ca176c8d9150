"""The forms that secrets have in printed text: one rule a form. Tokens and programs have tables of their own."""

from __future__ import annotations

import re

from gpudoctor.knowledge import environment, secret_programs
from gpudoctor.knowledge.secret_tokens import SERVICES, TOKENS
from gpudoctor.knowledge.secrets import (
    ARGUMENT,
    GAP,
    NAMED,
    RE2_WORDS,
    SEPARATOR,
    START,
    VALUE,
    WORDS,
    Rule,
    constant,
    digest,
    evidence,
    given_evidence,
    name,
    no_bootstrap_token,
    no_exemption,
    no_key_beside,
    not_credentials,
    not_random,
    prose,
    prose_behind_quote,
    word,
)
from gpudoctor.patterns import regex

# Of URLs to which anybody may write or that say who they are: what follows is the secret
HOOKS = (
    r"(?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+"
    r"|[a-z0-9-]+\.webhook\.office\.com/webhookb2|outlook\.office(?:365)?\.com/webhook|hooks\.zapier\.com/hooks/catch"
    r"|maker\.ifttt\.com/trigger/[^/\s]{1,100}/with/key|events\.pagerduty\.com/integration|hc-ping\.com|/hooks(?=/[a-z0-9]{26}(?![a-z0-9]))"
    r"|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook|api\.opsgenie\.com/v\d/json/[a-z]+)"
)

# Lines that are indented more than the first one
BLOCK = r"(?P<secret>[^\n]*(?:\n(?:(?P=indent)[ \t]+[^\n]*|[ \t]*(?=\n)))*)"
ENV = r"[A-Z_][A-Z0-9_]{0,255}"
# A header's value with parameters: up to the end of the line or of the quotes around all of it
PARAMETERS = r"""(?P<secret>(?:[^\n"'\\]|(?<==)\\{0,8}"[^"\n]{0,1000}")+)"""
AUTHORIZATION = r"""(?i:authorization)\\?["']?[ \t]{0,4}[:=][ \t]{0,4}\\?["']?"""

# These are looked for in the elements of a command too, which JOINT stands between.
COMMANDS: tuple[Rule, ...] = (
    # 40 letters of base64 beside the identifier of a key of AWS
    Rule("a[ks]ia[a-z0-9]{16}", regex(r"(?<![A-Za-z0-9+/=])(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])"), no_key_beside, wide=True),
    # --registry-password s3cr3t
    Rule(
        rf"-(?:[a-z0-9_.-]*)(?:{RE2_WORDS})[\"'\\]*[\s,]",
        regex(rf"(?<![A-Za-z0-9_.-])-{{1,2}}(?=[A-Za-z0-9])(?i:[a-z0-9_.-]{{0,40}}?(?:{WORDS}))(?!=){GAP}(?!-){ARGUMENT}"),
        constant,
        wide=True,
    ),
    # docker run -e LICENSE=s3cr3t
    Rule(
        rf"(?:-e|--env|-x|--build-arg|--export|env|export)\W.*{ENV}=".replace("{0,255}", "*"),
        regex(
            rf"(?<![^\s\"',\[])(?:(?:-e|--env|-x|--build-arg|--export){GAP}?|(?:env|export)[ \t\x1f]{{1,8}})"
            rf"[\"']?(?:[A-Z_]{{1,64}},){{0,8}}(?P<name>{ENV})={ARGUMENT}"
        ),
        given_evidence,
        wide=True,
    ),
    *secret_programs.rules(),
)

RULES: tuple[Rule, ...] = (
    *COMMANDS,
    # -----BEGIN RSA PRIVATE KEY----- … -----END RSA PRIVATE KEY-----, to the end of the text when its end was cut off
    Rule(
        "(?i)(?:private key|static key)",
        regex(
            r"(?P<secret>-{4,5} ?BEGIN [A-Z0-9 ]{0,30}(?:PRIVATE KEY(?: BLOCK)?|(?i:static key v1)) ?-{4,5}"
            r"(?:[^-]|-(?!---))*+(?:-{4,5} ?END [A-Za-z0-9 ]{0,40}-{4,5})?)"
        ),
        wide=True,
    ),
    # the same whose beginning was cut off
    Rule(
        "private key",
        regex(
            r"(?<![A-Za-z0-9+/=])(?P<secret>(?:[A-Za-z0-9+/]{16,}+={0,2}(?:\s|\\[rn]){1,4}){1,100}-{4,5} ?END [A-Z0-9 ]{0,30}PRIVATE KEY)"
        ),
        wide=True,
    ),
    Rule("private-lines:", regex(r"Private-Lines: \d{1,4}\s{1,2}(?P<secret>(?:[A-Za-z0-9+/]{4,}+=*\s{0,2})+)"), wide=True),  # of PuTTY
    # password: | and the lines below it
    Rule(
        rf"(?:{RE2_WORDS})[\"']?[ \t]*:[ \t]*[|>]",
        regex(
            rf"^(?P<indent>[ \t]*+)(?:- )?[\"']?[\w ./-]{{0,60}}?(?i:{WORDS})[\"']?[ \t]{{0,8}}:[ \t]{{0,8}}[|>][+-]?\d?[ \t]{{0,8}}\n"
            r"(?P=indent)[ \t]+" + BLOCK,
            re.MULTILINE,
        ),
        wide=True,
    ),
    # kind: Secret, in YAML and in JSON that is no whole document
    Rule(
        "kind:[ \"']*secret",
        regex(r"^(?P<indent>[ \t]*+)(?:data|stringData):[ \t]*\n(?P=indent)[ \t]+" + BLOCK, re.MULTILINE),
        within=regex(
            r"(?:\A|^---)(?=(?:(?!---)[^\n]*\n)*?[ \t-]{0,40}kind:[ \"']{0,4}Secret)(?P<rest>[^\n]*(?:\n(?!---)[^\n]*)*)", re.MULTILINE
        ),
        wide=True,
    ),
    Rule(
        r'\\?"kind\\?"\s*:\s*\\?"secret',
        regex(r"""(?<=:)\s{0,8}\\?"(?P<secret>[^"\\]+)"""),
        within=regex(r'"(?:data|stringData)\\?"\s{0,8}:\s{0,8}(?P<rest>\{[^{}]*)'),
        wide=True,
    ),
    # machine registry.example.com login deploy password s3cr3t, on one line or on three
    Rule(
        r"password\s",
        regex(
            r"\b(?:machine\s{1,8}\S{1,256}|default)\s{1,8}(?:(?:login|account)\s{1,8}\S{1,256}\s{1,8}){0,2}password\s{1,8}(?P<secret>\S+)"
        ),
        wide=True,
    ),
    # https://hooks.slack.com/services/T0…/B0…/…
    Rule("(?:hook|hc-ping|/integration/|/trigger/|opsgenie)", regex(HOOKS + r"/(?P<secret>[^\s\"'<>?\\]+)")),
    # …?sv=2024&sig=…, &X-Amz-Signature=…
    Rule(
        "(?:sig|signature|credential|security-token|code|hmac|key|sas|hdn[et][as])=",
        regex(
            r"(?:[?&;]|\\u0026|%3F|%26)(?i:(?:x-(?:amz|goog|oss|cos|obs|tos)-)?(?:sig|signature|credential|security-token)|code|hmac|key|sas|hdn[et][as])="
            r"(?P<secret>[^\s&\"'<>\\;]{16,})"
        ),
        name,
    ),
    # https://deploy:s3cr3t@registry.example.com/v2/, but not docker://app:v1@sha256:…
    Rule("://.*@", regex(r"://[^\s/@:\"']*:(?P<secret>[^\s/\"']+)@(?!sha\d+:)")),
    # https://deploy:pa/ss@registry.example.com: no URL, which is why it is quoted; behind a host stands a number
    Rule("://.*@", regex(r"://[^\s/@:\"'\[]*:(?!\d{1,5}/)(?P<secret>[^\s\"'/@]{1,128}/[^\s\"'@]{0,128})@(?!sha\d+:)")),
    # postgres://app:pa/ss@db/x: databases are given passwords as they are
    Rule(
        "://.*@",
        regex(
            r"(?i:postgres(?:ql)?|mysql|mariadb|mongodb|mssql|sqlserver|oracle|clickhouse|rediss?|amqps?|ldaps?|s?ftp|smb|nats|kafka)"
            r"(?:\+\w{1,20})?://[^\s/@:\"']*:(?P<secret>[^\s\"']+)@"
        ),
    ),
    # https://x7Tq9…@git.example.com/: a token in the place of the user
    Rule("://.*@", regex(r"://(?P<secret>[^\s/@:\"'<>]{16,})@(?!sha\d+:)")),
    # jdbc:oracle:thin:app/s3cr3t@//db:1521/x, app:s3cr3t@tcp(db:3306)/x
    Rule("jdbc:oracle", regex(r"(?i)jdbc:oracle:[a-z0-9]{1,8}:[^/\s]{0,128}/(?P<secret>[^@\s\"']+)@")),
    Rule(r"@(?:tcp|unix)\(", regex(r"(?<![^\s\"'=])[^\s:\"'@/]{1,64}:(?P<secret>[^\s\"'@]{1,128})@(?:tcp|unix)\(")),
    # eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.Zx81…
    Rule("eyJ[A-Za-z0-9_-]{8}", regex(START + r"(?P<secret>eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{4,}+(?:\.[A-Za-z0-9_-]*+)*+)")),
    Rule(
        r"[a-z0-9]{6}\.[a-z0-9]{16}",
        regex(r"(?<![A-Za-z0-9_./-])(?P<secret>[a-z0-9]{6}\.[a-z0-9]{16})(?![A-Za-z0-9_./-])"),
        no_bootstrap_token,
    ),
    *(
        Rule(
            f"(?-i:{token.begins})" + ("" if token.exact or "{" in token.begins else r"[^\s\"']{6}"),
            regex(rf"{START}(?P<secret>{token.begins}{token.rest})"),
            no_exemption if token.exact else name,
        )
        for token in TOKENS
    ),
    Rule("magic-cookie-1", regex(r"MIT-MAGIC-COOKIE-1[ \t]{1,8}(?P<secret>[0-9a-f]{32})")),
    # Authorization: Bearer 0b79bab50daca910b000d4f1a2b675d604257e42
    Rule(r"bearer[ \t]", regex(r"(?i:bearer)[ \t]{1,8}(?P<secret>[A-Za-z0-9._~+/-]{6,}+=*+)"), word),
    # Authorization: Basic ZGVwbG95OnMzY3IzdA==
    Rule(r"basic[ \t]", regex(r"(?i:basic)[ \t]{1,8}(?P<secret>[A-Za-z0-9+/]{6,}+=*+)"), not_credentials),
    # Authorization: token 0b79bab…, Authorization: Digest username="deploy", response="…"
    Rule(
        "authorization",
        regex(
            AUTHORIZATION
            + r"(?i:token|api-?key|key|splunk|bot|googlelogin|privatetoken|ntlm|negotiate|aws|sharedkey(?:lite)?|dpop)[ \t]{1,8}"
            r"(?i:(?:auth|token|apikey)=)?\\?[\"']?(?P<secret>[^\s\"'\\,]{6,})"
        ),
        word,
    ),
    Rule(
        "authorization",
        regex(
            AUTHORIZATION
            + r"(?i:digest|aws4-hmac-sha256|oauth|hawk|sharedaccesssignature|signature|gnap|scram-\S{1,12})[ \t]{1,8}"
            + PARAMETERS
        ),
    ),
    # Cookie: session=8f3a…; theme=dark
    Rule("cookie2?", regex(r"""(?i:cookie2?)\\?["']?[ \t]{0,4}:[ \t]{0,4}\\?["']?(?P<secret>[^\s=;,"'\\]{1,256}=[^\n"'\\]*)""")),
    # client-key-data: and base64 on several lines
    Rule(
        rf"(?:{RE2_WORDS})[\"']?:[ \t]*[A-Za-z0-9+/]{{16}}",
        regex(rf"(?i:{WORDS})[\"']?:[ \t]{{0,8}}(?P<secret>[A-Za-z0-9+/]{{16,}}(?:\n[ \t]{{1,40}}[A-Za-z0-9+/]{{16,}}={{0,2}}(?![^\s]))+)"),
        wide=True,
    ),
    # db_password=s3cr3t, "apiKey": "s3cr3t", \"client_secret\":\"s3cr3t\"
    Rule(
        rf"(?:{environment.PASSWORD_WORDS}){environment.ENDING}{NAMED}",
        regex(f"(?i:(?:{environment.PASSWORD_WORDS}){environment.ENDING})" + SEPARATOR + VALUE),
        prose_behind_quote,
    ),
    # token: 8f3a91, HF_TOKEN=s3cr3t, "auth": "ZGVwbG95OnMzY3IzdA=="
    Rule(
        rf"(?:{RE2_WORDS}){NAMED}",
        regex(f"(?i:(?:{environment.TOKEN_WORDS}){environment.ENDING})" + SEPARATOR + VALUE),
        prose,
    ),
    # "key": "5f4dcc3b5aa765d61d8327deb882cf99"
    Rule(f"key{NAMED}", regex("(?i:key)" + SEPARATOR + VALUE), not_random),
    # <password>s3cr3t</password>, <name>fs.s3a.secret.key</name><value>s3cr3t</value>
    Rule(rf"(?:{RE2_WORDS})(?:>|</name>)", regex(rf"(?i:{WORDS})(?:>|</name>\s{{0,8}}<value>)(?P<secret>[^<>\s]{{1,1000}})</"), constant),
    # datadog: 5f4dcc3b5aa765d61d8327deb882cf99
    Rule(
        rf"(?:{SERVICES})[ \t\w.\"'\\-]*[:=]",
        regex(
            rf"(?i:{SERVICES})[ \t\w.-]{{0,20}}\\?[\"']?[ \t]{{0,8}}[:=][ \t]{{0,8}}\\?[\"']?(?P<secret>[A-Za-z0-9_=-]{{20,}}+)(?![./:@])"
        ),
        digest,
    ),
    # snmp-server community s3cr3t RO, rocommunity s3cr3t 10.0.0.0/8
    Rule(
        "community",
        regex(rf"(?i:snmp-server[ \t]{{1,8}}community|\b(?:r[ow]|auth|trap)community6?|\bcom2sec6?[ \t].{{1,128}}?)[ \t]{{1,8}}{VALUE}"),
        constant,
    ),
    Rule(
        "community",
        regex(r"(?i:\bcommunity(?:[ _-]?(?:string|name))?)" + SEPARATOR + VALUE),
        lambda match: (
            prose(match) or match["secret"][:1].isdigit() or (match["separator"] == ":" and not re.search(r"\d", match["secret"]))
        ),
    ),
    Rule(
        "community[ \t]",
        regex(r"(?i:\bcommunity)[ \t]{1,8}(?P<secret>[A-Za-z][^\s,;:\"']{5,64})"),
        lambda match: not re.search(r"\d", match["secret"]),
    ),
    Rule("(?:requirepass|masterauth)[ \t]", regex(rf"(?:requirepass|masterauth)[ \t]{{1,8}}{VALUE}"), constant),
    # echo s3cr3t | docker login --password-stdin
    Rule(
        r"\|.*(?:stdin|passwd|sudo|kinit|login|cryptsetup)",
        regex(
            rf"\b(?:echo|printf)[ \t]{{1,8}}(?:-\w+[ \t]{{1,8}})?(?:[\"']?[A-Za-z0-9_-]{{1,32}}:(?=[^\n|]{{1,200}}chpasswd))?{VALUE}"
            r"(?=[\"']?[ \t]{0,8}\|[^\n|]{0,200}(?:--\w*-?stdin|\bchpasswd|sudo -S|\bkinit|\bcryptsetup|--with-token))"
        ),
    ),
    # "Env": ["LICENSE=s3cr3t"] of `docker inspect`, Environment=LICENSE=s3cr3t of systemd
    Rule(
        r"env(?:ironment)?(?:\\?[\"']\s*:\s*\[|=)",
        regex(rf"(?<![^\s\"'=,\[])(?P<name>{ENV})={VALUE}"),
        evidence,
        within=regex(
            r"""\b(?i:env(?:ironment)?)(?:\\?["']\s{0,8}:\s{0,8}\[(?P<list>)|=)(?P<rest>(?(list)(?:\\?"(?:[^"\\\n]|\\[^"\n])*+"[\s,]{0,64})*+|[^\n]*))"""
        ),
        wide=True,
    ),
    # Environment: and the variables below it, of `kubectl describe`
    Rule(
        r"environment:[ \t]*\n",
        regex(r"^[ ]+(?P<name>[A-Za-z_][\w.-]{0,255}):[ \t]+(?P<secret>\S[^\n]*)", re.MULTILINE),
        lambda match: match["secret"].startswith(("<set to the key", "(v1:")) or evidence(match),
        within=regex(r"^[ ]{2,40}Environment:[ ]{0,8}\n(?P<rest>(?:[ ]{6,40}[A-Za-z_][\w.-]{0,255}:[^\n]*(?:\n|\Z))+)", re.MULTILINE),
        wide=True,
    ),
    # {"name":"DATABASE","value":"s3cr3t"}, or the same two lines in YAML: a variable in a manifest that was printed as text
    Rule(
        r"value\\?[\"']?[ ]*:",
        regex(
            r"""\b(?:name|key)\\?["']?[ ]{0,8}:[ ]{0,8}\\?["']?(?P<name>[A-Z_][A-Z0-9_]{0,255})\\?["']?"""
            r"""[\s,]{0,64}\\?["']?value\\?["']?[ ]{0,8}:[ ]{0,8}""" + VALUE
        ),
        evidence,
        wide=True,
    ),
    # the same with the name behind the value, as people and Python write it
    Rule(
        r"value\\?[\"']?[ ]*:",
        regex(
            r"""\bvalue\\?["']?[ ]{0,8}:[ ]{0,8}"""
            + VALUE
            + r"""[\s,"'\\]{0,64}\b(?:name|key)\\?["']?[ ]{0,8}:[ ]{0,8}\\?["']?(?P<name>[A-Z_][A-Z0-9_]{0,255})(?![A-Za-z0-9_-])"""
        ),
        evidence,
        wide=True,
    ),
)

# DATABASE_DSN=host=db user=app: a line of an environment, or one element of a list of variables
ENVIRONMENT_LINE = Rule(
    r"(?m)^[ \t]*(?:export[ \t]|declare -x[ \t])?[A-Z_][A-Z0-9_]*=[^\s]",
    regex(r"^[ \t]*+(?:export[ \t]|declare -x[ \t])?(?P<name>[A-Z_][A-Z0-9_]{0,255})=(?P<secret>[^\s][^\r\n]*)", re.MULTILINE),
    evidence,
)
