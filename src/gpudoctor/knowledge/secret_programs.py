"""How programs are given secrets on the command line: options whose names don't say so, and words that only their place makes secret.

One row a program: its names, and a pattern that is looked for behind them. Source: the manual page of each.
"""

from __future__ import annotations

from collections.abc import Callable

from gpudoctor.knowledge.secrets import ARGUMENT, BARE, GAP, PASSED, VALUE, Match, Rule, never, port, word
from gpudoctor.patterns import regex

# From a program's name to the end of its command: of the line, of the printed list, of the lines that a list continues on
REST = r"(?:[^\n\\;|&]|\\[^nr]|[;|&](?!\s)|(?<=,)\n|\n(?=[ \t]{0,40}-[ \t]|[ \t]{4}))*+"
OPTION = r"""(?<![^\s"',\[])"""
WORD = rf"""(?:{PASSED}["']?(?!-)[^\s"'\\]+["']?)"""  # a word that is no secret


def given(options: str) -> str:
    """An option whose value is the next word, or follows `=`."""
    return rf"{OPTION}(?:{options}){GAP}(?!-){ARGUMENT}"


def attached(options: str) -> str:
    """An option whose value follows at once: `-psecret`."""
    return rf"{OPTION}(?:{options})(?=[^\s-]){VALUE}"


def either(options: str) -> str:
    """An option of one letter, as getopt(3) reads it."""
    return rf"{OPTION}(?:{options}){GAP}?(?!-){ARGUMENT}"


def pair(options: str, mark: str = ":") -> str:
    """An option with the user's name before the secret: `-u deploy:secret`."""
    return rf"{OPTION}(?:{options}){GAP}?[\"']?[^\s\"'{mark}\x1f]{{1,128}}{mark}(?P<secret>(?(own)[^\x1f]+|[^\s\"']{{1,256}}))"


def last(words: int) -> str:
    """The word behind so many others."""
    return rf"{WORD}{{{words}}}{GAP}(?!-){ARGUMENT}"


LOGIN = r"(?=(?:[^\n;|&]|\n[ \t]{0,40}-[ \t]){0,200}?[\s\"']login[\s\"',])"

PROGRAMS: tuple[tuple[str, str, Callable[[Match], bool]], ...] = (
    # databases
    ("mysql(?:dump|admin|sh|import|check|pump|slap)?|mariadb(?:-(?:dump|admin|import|check))?", attached("-p"), port),
    ("mongo(?:sh|dump|restore|export|import|stat|top)?|cqlsh|beeline", given("-p"), port),
    ("redis-cli|valkey-cli|keydb-cli", given("-a"), never),
    ("redis-cli|valkey-cli|keydb-cli", rf"(?i:\b(?:AUTH|requirepass|masterauth)){GAP}{ARGUMENT}", never),
    ("sqlcmd|bcp|osql|isql", either("-P"), never),
    ("sqlplus|rman|expdp|impdp|sqlldr", r"[^\s/\"']{1,64}/(?P<secret>[^\s@\"'/]{1,128})@", never),
    # remote machines
    ("sshpass", rf"(?:\A|\bsshpass)(?:{PASSED}-[ve])?{PASSED}-p{GAP}?{ARGUMENT}", never),
    ("plink|pscp|psftp|pageant", given("-pw"), never),
    ("ipmitool|ipmiutil", either("-[PkyY]"), never),
    ("ipmi-[a-z-]+|ipmipower|ipmiconsole|bmc-[a-z]+|racadm|ilorest|redfishtool|ipmicfg|saa|sum", given("-[pPk]"), port),
    ("snmp(?:bulk)?(?:get|getnext|walk|set|table|status|trap|inform|df|netstat|test|delta)", either("-[cAX]"), never),
    ("xfreerdp3?|rdesktop", r"(?<!\S)/p:" + VALUE, never),
    ("lftp|ncftp(?:get|put|ls)?", pair("-u", ","), never),
    ("iscsiadm", rf"password{PASSED}(?:-v|--value){GAP}{ARGUMENT}", never),
    # directories and shares
    ("ldap(?:search|add|modify|delete|whoami|compare|modrdn|exop|passwd)", either("-w"), never),
    ("ldappasswd", either("-[as]"), never),
    ("smbclient|smbget|smbcacls|rpcclient|net|wbinfo|smbmap|nxc|crackmapexec", pair("-U|--user", "%"), never),
    ("mount(?:\\.cifs)?", r"(?<=[,\s=])pass(?:word)?2?=" + VALUE, never),
    ("useradd|usermod", given("-p|--password"), never),
    ("htpasswd", rf"{OPTION}-(?=[a-zA-Z]*n)(?=[a-zA-Z]*b)[a-zA-Z]{{2,8}}" + last(1), never),
    ("htpasswd", rf"{OPTION}-(?![a-zA-Z]*n)(?=[a-zA-Z]*b)[a-zA-Z]{{1,8}}" + last(2), never),
    # registries, clouds, trackers
    (
        f"(?:docker|podman|nerdctl|buildah|skopeo|crane|gcrane|oras|helm|regctl|singularity|apptainer|az|oc|argocd){LOGIN}",
        either("-p"),
        port,
    ),
    ("skopeo|buildah|podman|crictl|ctr|oras|nerdctl", pair("--(?:src-|dest-)?creds|--user|-u"), port),
    ("kubectl|oc", rf"--from-literal{GAP}[\"']?[^\s=\"']{{1,253}}=(?P<secret>{BARE})", never),
    (f"wandb{LOGIN}", rf"login(?:{PASSED}--?[^\s\"']+){{0,4}}{GAP}(?!-){ARGUMENT}", word),
    (f"vault{LOGIN}|vault(?=[^\n]{{0,80}}unseal)", rf"(?:login|unseal)(?:[ \t]+-[^\s]+){{0,4}}{GAP}(?![a-z_-]+=|-){ARGUMENT}", word),
    ("mcl?i?", rf"(?:alias[ \t\x1f]+set|config[ \t\x1f]+host[ \t\x1f]+add){WORD}{{3}}{GAP}{ARGUMENT}", never),
    (
        "aws|kubectl|dvc|npm|pnpm|yarn|poetry|git|rclone|conda|gcloud|ngc",
        r"(?:set|config|modify|create|update)[ \t\x1f][^\n]{0,120}?(?i:secret_access_key|password|_auth(?:token)?|\.token|pypi-token\.\w+)"
        rf"(?:[ \t]{{1,8}}|(?P<own>\x1f))(?!-){ARGUMENT}",
        never,
    ),
    ("etcdctl", pair("--user"), never),
    ("kadmin(?:\\.local)?", either("-w"), never),
    ("weka", "(?:user[ \\t\x1f]+)?login" + last(1), never),
    ("twine", given("-p"), never),
    ("curl", pair("-u|--user|-U|--proxy-user"), port),
    ("curl", given("-b|--oauth2-bearer"), lambda match: "=" not in match["secret"] and "bearer" not in match[0]),
    ("https?|httpie|xh", pair("-a|--auth"), port),
    ("mosquitto_(?:pub|sub|rr)", given("-P"), never),
    ("rabbitmqctl", r"(?:add_user|change_password|authenticate_user)" + last(1), never),
    ("rabbitmqadmin", given("-p"), never),
    # files
    ("openssl", rf"-pass(?:in|out)?{GAP}[\"']?pass:(?P<secret>(?(own)[^\x1f]+|{BARE}))", never),
    ("openssl", given("-[kK]"), never),
    ("zip|unzip", either("-P"), never),
    ("7z[arz]?|rar|unrar", attached("-h?p"), never),
    ("ceph|rbd|rados|ceph-fuse", given("--key"), never),
)


def rules() -> tuple[Rule, ...]:
    """One rule a row; its pattern sees what stands behind the program's name."""
    made = []
    for names, pattern, spare in PROGRAMS:
        hint = rf"(?:{names.replace(LOGIN, '').partition('(?=')[0]})[^A-Za-z0-9_./:-]"
        start = rf"(?:(?<![A-Za-z0-9_.-])|(?<=\\[nrt]))(?:{names})(?![A-Za-z0-9_./:-])"
        made.append(Rule(hint, regex(pattern), spare, within=regex(rf"{start}(?P<rest>{REST})"), wide=True))
    return tuple(made)
