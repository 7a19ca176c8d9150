"""How programs are given secrets on the command line: options whose names don't say so, and words that only their place makes secret.

One row a program: its names, and a pattern that is looked for behind them. Source: the manual page of each.
"""

from __future__ import annotations

from collections.abc import Callable

from gpudoctor.knowledge.secrets import ARGUMENT, BARE, GAP, PASSED, VALUE, Match, Rule, no_exemption, port, word
from gpudoctor.patterns import regex

# From a program's name to the end of its command: of the line, of the printed list, of the lines that a list continues on
REST = r"(?:[^\n\\;|&]|\\[^nr]|[;|&](?!\s)|(?<=,)\n|\n(?=[ \t]{0,40}-[ \t]|[ \t]{4}))*+"
OPTION = r"""(?<![^\s"',\[])"""
WORD = rf"""(?:{PASSED}["']?(?!-)[^\s"'\\]+["']?)"""  # a word that is no secret


def option_with_value(options: str) -> str:
    """An option whose value is the next word, or follows `=`."""
    return rf"{OPTION}(?:{options}){GAP}(?!-){ARGUMENT}"


def option_with_attached_value(options: str) -> str:
    """An option whose value follows at once: `-psecret`."""
    return rf"{OPTION}(?:{options})(?=[^\s-]){VALUE}"


def one_letter_option(options: str) -> str:
    """An option of one letter, as getopt(3) reads it."""
    return rf"{OPTION}(?:{options}){GAP}?(?!-){ARGUMENT}"


def pair(options: str, mark: str = ":") -> str:
    """An option with the user's name before the secret: `-u deploy:secret`."""
    return rf"{OPTION}(?:{options}){GAP}?[\"']?[^\s\"'{mark}\x1f]{{1,128}}{mark}(?P<secret>(?(own)[^\x1f]+|[^\s\"']{{1,256}}))"


def word_after(words: int) -> str:
    """The word behind so many others."""
    return rf"{WORD}{{{words}}}{GAP}(?!-){ARGUMENT}"


LOGIN = r"(?=(?:[^\n;|&]|\n[ \t]{0,40}-[ \t]){0,200}?[\s\"']login[\s\"',])"

PROGRAMS: tuple[tuple[str, str, Callable[[Match], bool]], ...] = (
    # databases
    ("mysql(?:dump|admin|sh|import|check|pump|slap)?|mariadb(?:-(?:dump|admin|import|check))?", option_with_attached_value("-p"), port),
    ("mongo(?:sh|dump|restore|export|import|stat|top)?|cqlsh|beeline", option_with_value("-p"), port),
    ("redis-cli|valkey-cli|keydb-cli", option_with_value("-a"), no_exemption),
    ("redis-cli|valkey-cli|keydb-cli", rf"(?i:\b(?:AUTH|requirepass|masterauth)){GAP}{ARGUMENT}", no_exemption),
    ("sqlcmd|bcp|osql|isql", one_letter_option("-P"), no_exemption),
    ("sqlplus|rman|expdp|impdp|sqlldr", r"[^\s/\"']{1,64}/(?P<secret>[^\s@\"'/]{1,128})@", no_exemption),
    # remote machines
    ("sshpass", rf"(?:\A|\bsshpass)(?:{PASSED}-[ve])?{PASSED}-p{GAP}?{ARGUMENT}", no_exemption),
    ("plink|pscp|psftp|pageant", option_with_value("-pw"), no_exemption),
    ("ipmitool|ipmiutil", one_letter_option("-[PkyY]"), no_exemption),
    ("ipmi-[a-z-]+|ipmipower|ipmiconsole|bmc-[a-z]+|racadm|ilorest|redfishtool|ipmicfg|saa|sum", option_with_value("-[pPk]"), port),
    ("snmp(?:bulk)?(?:get|getnext|walk|set|table|status|trap|inform|df|netstat|test|delta)", one_letter_option("-[cAX]"), no_exemption),
    ("xfreerdp3?|rdesktop", r"(?<!\S)/p:" + VALUE, no_exemption),
    ("lftp|ncftp(?:get|put|ls)?", pair("-u", ","), no_exemption),
    ("iscsiadm", rf"password{PASSED}(?:-v|--value){GAP}{ARGUMENT}", no_exemption),
    # directories and shares
    ("ldap(?:search|add|modify|delete|whoami|compare|modrdn|exop|passwd)", one_letter_option("-w"), no_exemption),
    ("ldappasswd", one_letter_option("-[as]"), no_exemption),
    ("smbclient|smbget|smbcacls|rpcclient|net|wbinfo|smbmap|nxc|crackmapexec", pair("-U|--user", "%"), no_exemption),
    ("mount(?:\\.cifs)?", r"(?<=[,\s=])pass(?:word)?2?=" + VALUE, no_exemption),
    ("useradd|usermod", option_with_value("-p|--password"), no_exemption),
    ("htpasswd", rf"{OPTION}-(?=[a-zA-Z]*n)(?=[a-zA-Z]*b)[a-zA-Z]{{2,8}}" + word_after(1), no_exemption),
    ("htpasswd", rf"{OPTION}-(?![a-zA-Z]*n)(?=[a-zA-Z]*b)[a-zA-Z]{{1,8}}" + word_after(2), no_exemption),
    # registries, clouds, trackers
    (
        f"(?:docker|podman|nerdctl|buildah|skopeo|crane|gcrane|oras|helm|regctl|singularity|apptainer|az|oc|argocd){LOGIN}",
        one_letter_option("-p"),
        port,
    ),
    ("skopeo|buildah|podman|crictl|ctr|oras|nerdctl", pair("--(?:src-|dest-)?creds|--user|-u"), port),
    ("kubectl|oc", rf"--from-literal{GAP}[\"']?[^\s=\"']{{1,253}}=(?P<secret>{BARE})", no_exemption),
    (f"wandb{LOGIN}", rf"login(?:{PASSED}--?[^\s\"']+){{0,4}}{GAP}(?!-){ARGUMENT}", word),
    (f"vault{LOGIN}|vault(?=[^\n]{{0,80}}unseal)", rf"(?:login|unseal)(?:[ \t]+-[^\s]+){{0,4}}{GAP}(?![a-z_-]+=|-){ARGUMENT}", word),
    ("mcl?i?", rf"(?:alias[ \t\x1f]+set|config[ \t\x1f]+host[ \t\x1f]+add){WORD}{{3}}{GAP}{ARGUMENT}", no_exemption),
    (
        "aws|kubectl|dvc|npm|pnpm|yarn|poetry|git|rclone|conda|gcloud|ngc",
        r"(?:set|config|modify|create|update)[ \t\x1f][^\n]{0,120}?(?i:secret_access_key|password|_auth(?:token)?|\.token|pypi-token\.\w+)"
        rf"(?:[ \t]{{1,8}}|(?P<own>\x1f))(?!-){ARGUMENT}",
        no_exemption,
    ),
    ("etcdctl", pair("--user"), no_exemption),
    ("kadmin(?:\\.local)?", one_letter_option("-w"), no_exemption),
    ("weka", "(?:user[ \\t\x1f]+)?login" + word_after(1), no_exemption),
    ("twine", option_with_value("-p"), no_exemption),
    ("curl", pair("-u|--user|-U|--proxy-user"), port),
    ("curl", option_with_value("-b|--oauth2-bearer"), lambda match: "=" not in match["secret"] and "bearer" not in match[0]),
    ("https?|httpie|xh", pair("-a|--auth"), port),
    ("mosquitto_(?:pub|sub|rr)", option_with_value("-P"), no_exemption),
    ("rabbitmqctl", r"(?:add_user|change_password|authenticate_user)" + word_after(1), no_exemption),
    ("rabbitmqadmin", option_with_value("-p"), no_exemption),
    # files
    ("openssl", rf"-pass(?:in|out)?{GAP}[\"']?pass:(?P<secret>(?(own)[^\x1f]+|{BARE}))", no_exemption),
    ("openssl", option_with_value("-[kK]"), no_exemption),
    ("zip|unzip", one_letter_option("-P"), no_exemption),
    ("7z[arz]?|rar|unrar", option_with_attached_value("-h?p"), no_exemption),
    ("ceph|rbd|rados|ceph-fuse", option_with_value("--key"), no_exemption),
)


def rules() -> tuple[Rule, ...]:
    """One rule a row; its pattern sees what stands behind the program's name."""
    made = []
    for names, pattern, spare in PROGRAMS:
        hint = rf"(?:{names.replace(LOGIN, '').partition('(?=')[0]})[^A-Za-z0-9_./:-]"
        start = rf"(?:(?<![A-Za-z0-9_.-])|(?<=\\[nrt]))(?:{names})(?![A-Za-z0-9_./:-])"
        made.append(Rule(hint, regex(pattern), spare, within=regex(rf"{start}(?P<rest>{REST})"), wide=True))
    return tuple(made)
