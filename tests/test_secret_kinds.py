"""Every kind of secret that occurs around a cluster, in every place where one may stand: none is left in what a bundle holds."""

from __future__ import annotations

import base64
import json
import random
import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote

import msgspec
import pytest

from gpudoctor.probes.redact import Redactor

LOWER, DIGITS, HEX = "abcdefghijklmnopqrstuvwxyz", "0123456789", "0123456789abcdef"
ALNUM = LOWER + LOWER.upper() + DIGITS
BASE64, URLSAFE = ALNUM + "+/", ALNUM + "_-"


class Kind(NamedTuple):
    """`secret` says how it is made: `hf_` and {40 of an alphabet}; `form` is how it is met, `{}` the secret.

    `bare`: its form alone tells it. Others are told by what stands around them.
    """

    name: str
    secret: str
    form: str = "{}"
    bare: bool = False


def told(name: str, secret: str) -> Kind:
    """A kind that is told by its own form."""
    return Kind(name, secret, "using {} now", bare=True)


COMMAND = re.compile(r"[a-z0-9-]+ (?:login|join|create|copy|set|members|add|rsa|/|-)")  # the beginning of a form that is a command
ALPHABETS = {"a": ALNUM, "b": BASE64, "w": URLSAFE, "h": HEX, "d": DIGITS, "l": LOWER, "U": LOWER.upper() + DIGITS, "s": LOWER + DIGITS}

# <40a> stands for 40 letters and digits, <32h> for 32 hexadecimal digits, … see ALPHABETS; <uuid> for one
KINDS = [
    # code, packages and images
    told("GitHub", "ghp_<36a>"),
    told("GitHub app", "ghs_<36a>"),
    told("GitHub fine-grained", "github_pat_<22a>_<59a>"),
    told("GitLab", "glpat-<20w>"),
    told("GitLab runner", "glrt-<20w>"),
    told("GitLab deploy", "gldt-<20w>"),
    told("GitLab job", "glcbt-64_<20w>"),
    told("npm", "npm_<36a>"),
    told("PyPI", "pypi-AgEIcHlwaS5vcmc<70w>"),
    told("RubyGems", "rubygems_<48h>"),
    told("Docker Hub", "dckr_pat_<27w>"),
    told("JFrog", "AKCp<69a>"),
    told("SonarQube", "squ_<40h>"),
    told("Atlassian", "ATATT3xFfGF0<60w>"),
    Kind("registry login", "<24b>==", '{{"auths": {{"registry.example.com": {{"auth": "{}"}}}}}}'),
    told("registry login in base64", "eyJhdXRocyI6<80b>"),
    Kind("npm legacy", "<uuid>", "//registry.npmjs.org/:_authToken={}"),
    # models and trackers
    told("Hugging Face", "hf_<34a>"),
    told("NGC", "nvapi-<64w>"),
    told("OpenAI", "sk-proj-<48a>"),
    told("Anthropic", "sk-ant-api03-<93w>AA"),
    told("Replicate", "r8_<37a>"),
    told("Groq", "gsk_<52a>"),
    told("Perplexity", "pplx-<48a>"),
    told("LangSmith", "lsv2_pt_<32h>_<10h>"),
    Kind("Cohere", "<40a>", "cohere: {}"),
    Kind("Weights & Biases", "<40h>", "wandb login {}"),
    Kind("Weights & Biases, again", "<40h>", "wandb login --relogin --host=https://wandb.example.com {}"),
    Kind("Weights & Biases, by name", "<40h>", "WANDB_API_KEY={} python train.py"),
    Kind("Hugging Face, by option", "<12a>", "huggingface-cli login --token {}"),
    Kind("Kaggle", "<32h>", '{{"username": "me", "key": "{}"}}'),
    # clouds
    told("AWS key", "AKIA<16U>"),
    Kind("AWS secret key", "<40b>", "AWS_SECRET_ACCESS_KEY={}"),
    Kind("AWS secret key without a name", "<39b>x", "keys AKIAABCDEFGHIJKLMNOP {} in use"),
    Kind("AWS signature", "<64h>", "https://b.s3.amazonaws.com/x?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=900&X-Amz-Signature={}"),
    Kind("AWS header", "<64h>", "Authorization: AWS4-HMAC-SHA256 Credential=x/20260301/us-east-1/s3/aws4_request, Signature={}"),
    Kind("Google signature", "<128h>", "https://storage.googleapis.com/b/x?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Signature={}"),
    told("Google API key", "AIza<35w>"),
    told("Google OAuth", "ya29.<60w>"),
    told("Google OAuth client", "GOCSPX-<28w>"),
    Kind(
        "service account",
        "<64b>",
        '{{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----\\n"}}',
    ),
    Kind("Azure SAS", "<43a>%3D", "https://ml.blob.core.windows.net/c/b?sv=2024-11-04&sr=b&sp=r&sig={}"),
    Kind("Azure storage key", "<86b>==", "DefaultEndpointsProtocol=https;AccountName=ml;AccountKey={};EndpointSuffix=core.windows.net"),
    Kind("Azure service bus", "<43b>=", "Endpoint=sb://ml.servicebus.windows.net/;SharedAccessKeyName=r;SharedAccessKey={}"),
    told("Entra ID", "<3a>8Q~<34a>"),
    told("DigitalOcean", "dop_v1_<64h>"),
    told("Databricks", "dapi<32h>"),
    Kind("Heroku", "<uuid>", "heroku api-key: {}"),
    told("Heroku, new", "HRKU-AA<58w>"),
    Kind("Cloudflare", "<40w>", "CLOUDFLARE_TOKEN: {}"),
    told("Alibaba", "LTAI<20a>"),
    told("Tailscale", "tskey-auth-<17a>-<32a>"),
    told("Pulumi", "pul-<40h>"),
    # Kubernetes
    told("bootstrap token", "x<4s>9.g4<13s>7"),
    Kind("kubeadm join", "<6s>.<16s>", "kubeadm join 10.0.0.1:6443 --token {} --discovery-token-ca-cert-hash sha256:abc"),
    Kind("kubeadm certificate key", "<64h>", "kubeadm join 10.0.0.1:6443 --control-plane --certificate-key {}"),
    told("JWT", "eyJ<30w>.eyJ<60w>.<43w>"),
    Kind(
        "kubeconfig key", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ<200b>=", "users:\n- name: admin\n  user:\n    client-key-data: {}\n"
    ),
    Kind("kubeconfig token", "<32a>", "users:\n- name: admin\n  user:\n    token: {}\n"),
    Kind("kubeconfig password", "<12a>", "users:\n- user:\n    username: admin\n    password: {}\n"),
    Kind("Secret in YAML", "<24b>", "apiVersion: v1\ndata:\n  config: {}\nkind: Secret\nmetadata:\n  name: x\n"),
    Kind("literal of a Secret", "<14a>", "kubectl create secret generic x --from-literal=license={}"),
    Kind("block of YAML", "<30b>", "config:\n  munge.key: |\n    {}\n    x\n  port: 1\n"),
    told("OpenShift", "sha256~<43w>"),
    told("k3s", "K10<64h>::server:<32h>"),
    told("Rancher", "token-x7k2p:<54s>"),
    told("EKS", "k8s-aws-v1.<80w>"),
    told("HashiCorp Vault", "hvs.<90w>"),
    told("HashiCorp Vault, old", "s.<24a>"),
    Kind("Vault unseal key", "<43b>=", "Unseal Key 1: {}"),
    Kind("Consul", "<uuid>", "consul members -token={}"),
    told("Terraform", "<14a>.atlasv1.<64w>"),
    told("age", "AGE-SECRET-KEY-1<58U>"),
    # watching and calling
    Kind("Slack webhook", "T<9U>/B<9U>/<24a>", "https://hooks.slack.com/services/{}"),
    Kind("Discord webhook", "<68w>", "https://discord.com/api/webhooks/123456789012345678/{}"),
    Kind("Teams webhook", "<uuid>@<uuid>/IncomingWebhook/<32h>/<uuid>", "https://example.webhook.office.com/webhookb2/{}"),
    Kind("Power Automate", "<43w>", "https://prod-12.westus.logic.azure.com:443/workflows/x/triggers/manual/paths/invoke?sp=%2Frun&sig={}"),
    Kind("Google Chat", "<43w>", "https://chat.googleapis.com/v1/spaces/AAAA/messages?threadKey=x&token={}"),
    Kind("Mattermost webhook", "x<25s>", "https://chat.example.com/hooks/{}"),
    Kind("PagerDuty integration", "<32h>", "https://events.pagerduty.com/integration/{}/enqueue"),
    Kind("PagerDuty", "<20w>", "Authorization: Token token={}"),
    Kind("PagerDuty routing key", "<32h>", '{{"routing_key": "{}", "event_action": "trigger"}}'),
    told("Slack bot", "xoxb-<12d>-<12d>-<24a>"),
    told("Slack app", "xapp-1-A<10U>-<13d>-<64h>"),
    told("Telegram", "<10d>:AA<33w>"),
    Kind("Telegram URL", "<10d>:AA<33w>", "https://api.telegram.org/bot{}/sendMessage"),
    told("Discord bot", "M<23a>.<6a>.<38w>"),
    told("Grafana", "glsa_<32a>_<8h>"),
    told("Grafana cloud", "glc_<60b>="),
    told("New Relic", "NRAK-<27U>"),
    told("New Relic licence", "<36h>NRAL"),
    Kind("Datadog", "<32h>", "DD-API-KEY: {}"),
    Kind("Datadog application", "<40h>", "dd_application_key={}"),
    told("Sentry", "sntrys_<60a>"),
    Kind("Sentry DSN", "<32h>", "https://{}@o450000.ingest.sentry.io/4500001"),
    told("Dynatrace", "dt0c01.<24U>.<64U>"),
    told("SendGrid", "SG.<22w>.<43w>"),
    told("Twilio", "SK<32h>"),
    Kind("Twilio by name", "<32h>", "twilio.auth: {}"),
    told("Stripe", "sk_live_<24a>"),
    told("Shopify", "shpat_<32h>"),
    told("Mailgun", "key-<32h>"),
    # what a password opens
    Kind("Basic", "<20a>", 'Authorization: Digest username="a", realm="r", response="{}"'),
    Kind("GitHub header", "<40h>", "curl -H 'Authorization: token {}' https://git.example.com/api"),
    Kind("key header", "<16a>", "curl -H 'X-Api-Key: {}' https://api.example.com/v1"),
    Kind("cookie", "<32a>", "Cookie: theme=dark; session={}"),
    Kind("cookie that is set", "<32a>", "Set-Cookie: sid={}; Path=/; HttpOnly"),
    Kind("cookie of curl", "<32a>", "curl -s -b session={} https://x.example.com"),
    Kind("bearer in a URL", "<20a>", "https://api.example.com/v1?bearer={}"),
    Kind("git header", "<24b>Og==", "git -c http.extraheader='Authorization: Basic {}' clone https://git.example.com/x"),
    Kind("PostgreSQL URL", "<14a>", "postgresql://app:{}@db.example.com:5432/ml"),
    Kind("MongoDB URL", "<14a>", "mongodb+srv://app:{}@db.example.com/ml?retryWrites=true"),
    Kind("Redis URL", "<14a>", "redis://:{}@cache.example.com:6379/0"),
    Kind("RabbitMQ URL", "<7a>/<7a>", "amqps://app:{}@mq.example.com:5671/x"),
    Kind("Oracle JDBC", "<10a>", "jdbc:oracle:thin:app/{}@//db.example.com:1521/ml"),
    Kind("SQL Server JDBC", "<10a>", "jdbc:sqlserver://db:1433;databaseName=ml;user=app;password={};encrypt=true"),
    Kind("MySQL DSN", "<10a>", "app:{}@tcp(10.0.0.3:3306)/ml"),
    Kind("PGPASSWORD", "<10a>", "PGPASSWORD={} psql -h db"),
    Kind("mysql", "<10a>", "mysql -h db -u app -p{} ml"),
    Kind("mongosh", "<10a>", "mongosh --host db -u app -p {} ml"),
    Kind("redis-cli", "<10a>", "redis-cli -h cache -a {} ping"),
    Kind("requirepass", "<10a>", "bind 0.0.0.0\nrequirepass {}\nport 6379"),
    Kind("sqlcmd", "<10a>", "sqlcmd -S db -U sa -P {} -Q 'select 1'"),
    Kind("docker login", "<10a>", "docker login -u deploy -p {} registry.example.com"),
    Kind("docker login by pipe", "<10a>", "echo {} | docker login -u deploy --password-stdin registry.example.com"),
    Kind("skopeo", "<10a>", "skopeo copy --src-creds deploy:{} docker://a docker://b"),
    Kind("sshpass", "<10a>", "sshpass -p {} ssh -p 22 admin@gpu-01"),
    Kind("sshpass, attached", "<10a>", "sshpass -p{} ssh admin@gpu-01"),
    Kind("curl -u", "<10a>", "curl -sS -u deploy:{} https://models.example.com"),
    Kind("netrc", "<40h>", "machine api.wandb.ai login user password {}"),
    Kind("netrc of three lines", "<10a>", "machine git.example.com\n  login deploy\n  password {}\n"),
    Kind("ipmitool", "<10a>", "ipmitool -I lanplus -H bmc-01 -U ADMIN -P {} chassis status"),
    Kind("FreeIPMI", "<10a>", "ipmi-sensors -h bmc-01 -u ADMIN -p {}"),
    Kind("racadm", "<10a>", "racadm -r bmc-01 -u root -p {} getsel"),
    Kind("snmpget", "<10a>", "snmpget -v2c -c {} switch-01 sysUpTime.0"),
    Kind("snmpget of v3", "<10a>", "snmpwalk -v3 -u mon -l authPriv -a SHA -A {} -x AES switch-01"),
    Kind("SNMP community", "<10a>", "snmp-server community {} RO"),
    Kind("SNMP rocommunity", "<10a>", "rocommunity {} 10.0.0.0/8"),
    Kind("SNMP community of a list", "community-<6a>7", "community: {}"),
    Kind("ldapsearch", "<10a>", "ldapsearch -x -D cn=admin,dc=example,dc=com -w {} -b dc=example,dc=com"),
    Kind("smbclient", "<10a>", "smbclient //nas/ml -U 'ml%{}' -c ls"),
    Kind("mount", "<10a>", "mount -t cifs //nas/ml /mnt/ml -o username=ml,password={},vers=3.0"),
    Kind("Ceph", "AQ<36b>==", "mount -t ceph mon:/ /mnt -o name=admin,secret={}"),
    Kind("Ceph keyring", "AQ<36b>==", "[client.admin]\n\tkey = {}\n"),
    Kind("openssl", "<10a>", "openssl rsa -in k.pem -passin pass:{} -out x.pem"),
    Kind("htpasswd", "<10a>", "htpasswd -nb deploy {}"),
    Kind("htpasswd file", "<10a>", "htpasswd -bc /etc/nginx/htpasswd deploy {}"),
    Kind("chpasswd", "<10a>", "echo root:{} | chpasswd"),
    Kind("keytool", "<10a>", "keytool -list -keystore k.jks -storepass {}"),
    Kind("environment of a container", "<10a>", "docker run -e LICENSE={} image"),
    Kind("aws configure", "<40b>", "aws configure set aws_secret_access_key {}"),
    Kind("systemd", "<10a>", "[Service]\nEnvironment=LICENSE={} NCCL_DEBUG=INFO\n"),
    Kind("kubectl describe", "<10a>", "Containers:\n  main:\n    Environment:\n      LICENSE:     {}\n      NCCL_DEBUG:  INFO\n"),
    told("shadow of SHA-512", "$6$<16a>$<86a>"),
    told("shadow of yescrypt", "$y$j9T$<22a>$<43a>"),
    told("htpasswd hash", "$2y$05$<53a>"),
    told("LDAP hash", "{SSHA}<32b>"),
    Kind("MUNGE key", "<88b>==", "munge.key: {}"),
    told("MUNGE credential", "MUNGE:<120b>:"),
    Kind("Slurm token", "eyJ<30w>.eyJ<60w>.<43w>", "SLURM_JWT={}"),
    Kind("X11", "<32h>", "gpu-01/unix:0  MIT-MAGIC-COOKIE-1  {}"),
    Kind("WireGuard", "<43b>=", "[Interface]\nPrivateKey = {}\n"),
    Kind("RSA key", "<64b>", "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----"),
    Kind("OpenSSH key", "<70b>", "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----"),
    Kind("PGP key", "<64b>", "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{}\n=ab1D\n-----END PGP PRIVATE KEY BLOCK-----"),
    Kind("end of a key", "<64b>", "{}\n-----END PRIVATE KEY-----"),
    Kind("PuTTY key", "<64b>", "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 1\n{}\nPrivate-MAC: x"),
    Kind("client key on several lines", "<64b>", "client-key-data: Zm9vYmFyYmF6Zm9vYmFy\n    {}\n    Zm9vYmFyYmF6Zm9v=\n"),
    Kind("XML", "<10a>", "<user>ml</user><password>{}</password>"),
    Kind("Hadoop", "<10a>", "<name>fs.s3a.secret.key</name><value>{}</value>"),
    Kind("Spark", "<10a>", "spark-submit --conf spark.hadoop.fs.s3a.secret.key={} job.py"),
    Kind("key of a tracker", "<10a>", "python train.py --wandb_key={} --lr 1e-4"),
    Kind("key in a URL", "<10a>", "GET https://maps.example.com/v1?key={}&x=1"),
    Kind("StoragePass", "<10a>", "StorageUser=slurm\nStoragePass={}\nStoragePort=3306"),
    Kind("SSHPASS", "<10a>", "SSHPASS={} sshpass -e ssh gpu-01"),
    Kind("cryptsetup", "<10a>", "echo -n {} | cryptsetup luksOpen /dev/nvme0n1 scratch"),
    Kind("etcdctl", "<10a>", "etcdctl --user root:{} get /registry"),
    Kind("kadmin", "<10a>", "kadmin -p ml/admin -w {} -q getprincs"),
    Kind("weka", "<10a>", "weka user login admin {}"),
    Kind("GRUB", "<64U>", "password_pbkdf2 root grub.pbkdf2.sha512.10000.00AA11BB22CC33DD44EE55FF.{}"),
    Kind("Python's bytes", "<10a>", "connect(user=b'ml', password=b'{}') failed"),
    Kind("Rust's Some", "<10a>", 'Config {{ user: "ml", password: Some("{}") }}'),
    Kind("a URL in a URL", "<10a>", "GET /login?next=https%3A%2F%2Fx.example.com%2F%3Ftoken%3D{}%26page%3D2"),
    Kind("JSON in a URL", "<10a>", "GET /x?body=%7B%22password%22%3A%22{}%22%7D"),
    Kind("variable whose value comes first", "<10a>", "env:\n- value: {}\n  name: SETTING\n"),
    Kind("variable of NCCL's prefix", "<10a>", "export NCCL_SITE_TOKEN_1={}"),
    Kind("unknown variable of NCCL's prefix", "x<5s>", "export NCCL_SITE_ENTRANCE={}"),
]


def made(kind: Kind) -> str:
    """A secret of this kind, the same in every run."""
    chance = random.Random(kind.name)

    def part(match: re.Match[str]) -> str:
        if match[0] == "<uuid>":
            return "-".join("".join(chance.choices(HEX, k=size)) for size in (8, 4, 4, 4, 12))
        letters = "".join(chance.choices(ALPHABETS[match[2]], k=int(match[1])))
        return letters if match[2] in "ldhU" else f"{letters[:-3]}q7Z"[: len(letters)] if match[2] != "s" else f"{letters[:-2]}z7"

    secret = re.sub(r"<(?:(\d+)([a-zA-Z])|uuid)>", part, kind.secret)
    return base64.b64encode(f"deploy:{secret}".encode()).decode() if "Og==" in kind.secret else secret


def everywhere(kind: Kind, form: str, secret: str) -> Iterator[tuple[str, str]]:
    """Every place where it makes sense, and what a bundle holds of it there."""
    redactor = Redactor()
    line = f"2026-03-01T12:00:00Z gpu-01 INFO {form}" if "\n" not in form else f"read:\n{form}\nend"

    def page(value: object) -> str:
        return str(msgspec.json.decode(redactor.page(json.dumps(value).encode())))

    def container(**fields: object) -> object:
        return {"kind": "PodList", "items": [{"kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", **fields}]}}]}

    yield "a line of a log", redactor.text(line)
    yield "output", redactor.raw(f"first\n{line}\nlast\n".encode()).decode()
    yield "an annotation", page({"kind": "Pod", "metadata": {"annotations": {"example.com/note": form}}})
    yield "a ConfigMap", page({"kind": "ConfigMap", "data": {"app.conf": f"port = 8080\n{form}\nlevel = 3\n"}})
    yield "an event", page({"kind": "EventList", "items": [{"message": f"failed: {line}"}]})
    yield "JSON of a log", redactor.raw(f"I0301 12:00 {json.dumps({'msg': form})}\n".encode()).decode()
    yield "JSON in JSON of a log", redactor.raw(f"I0301 12:00 {json.dumps({'log': json.dumps({'msg': form})})}\n".encode()).decode()
    yield "a log of JSON in JSON", page({"log": json.dumps({"log": json.dumps({"msg": form})})})
    yield "a variable of a pod", page(container(env=[{"name": "SETTING", "value": secret}]))
    yield "a line of an environment", redactor.raw(f"PATH=/bin\nSETTING={secret}\n".encode()).decode()
    yield "an environment of /proc", redactor.raw(f"PATH=/bin\0SETTING={secret}\0".encode()).decode()
    yield "variables of docker inspect", page([{"Config": {"Env": [f"SETTING={secret}", "PATH=/bin"]}}])
    if "\n" not in form:
        yield "kubectl describe", redactor.raw(f"Name:  a\nStatus:\n  Message:  {form}\n  Reason:   Error\n".encode()).decode()
        yield (
            "ps",
            redactor.raw(f"  PID COMMAND\n 4711 {'/usr/bin/' if COMMAND.match(form) else 'run '}{form}\n 4712 sleep\n".encode()).decode(),
        )
        yield "a script in a container's command", page(container(command=["sh", "-c", f"set -e\n{form}\n"]))
        yield "a script in a command that was run", "\n".join(redactor.argv(["ssh", "gpu-01", form]))
        words = shlex.split(form) if COMMAND.match(form) and "|" not in form else [form]
        yield "elements of a command", "\n".join(redactor.argv(words))
        yield "elements of a container's command", page(container(command=words))
        yield "a command line of /proc", redactor.raw("\0".join([*words, ""]).encode()).decode()
        listed = "\n".join(f"    - {json.dumps(word)}" for word in words)
        yield "a command in YAML", redactor.raw(f"spec:\n  containers:\n  - command:\n{listed}\n    name: c\n".encode()).decode()
        yield "a printed list", redactor.raw(f"exec: {json.dumps(words)} failed\n".encode()).decode()
    if "\n" not in secret:
        yield "a URL", redactor.text(f"GET https://api.example.com/v1?page=2&access_token={quote(secret, safe='')}&x=1")
        yield "a field that says so", redactor.raw(f'level=info api_key="{secret}" user=a\n'.encode()).decode()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_no_secret_is_left_wherever_it_stands(kind: Kind) -> None:
    secret = made(kind)
    form = kind.form.format(secret)
    left = [f"{place}: {kept}" for place, kept in everywhere(kind, form, secret) if secret in kept or quote(secret, safe="") in kept]
    assert not left, "\n".join(left)
