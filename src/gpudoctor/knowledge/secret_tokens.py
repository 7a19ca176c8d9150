"""Tokens that are told by their form alone: what their issuer begins them with. One row a kind: issuer, beginning, the rest.

Sources: the rules of gitleaks (config/gitleaks.toml) and the detectors of detect-secrets, whose facts these are (beginnings, alphabets;
lengths as lower bounds, since issuers lengthen them), and the issuers' own documentation.
"""

from __future__ import annotations

from typing import NamedTuple


class Token(NamedTuple):
    """`begins` is an expression that RE2 knows too: a text without it is not looked at. `exact`: no name has this form."""

    issuer: str
    begins: str
    rest: str
    exact: bool = False


# Services whose keys have no form of their own: a name of theirs, a separator and 20 letters with a digit (as in gitleaks' rules)
SERVICES = (
    "adafruit|airtable|algolia|alibaba|anyscale|asana|auth0|bitbucket|cloudflare|codecov|cohere|comet|confluent|contentful|coreweave|datadog"
    "|discord|droneci|dropbox|elastic|etsy|fastly|finnhub|freshbooks|gitter|grafana|heroku|honeycomb|hubspot|intercom|jfrog|jira|kaggle|kraken"
    "|lambdalabs|launchdarkly|linode|mailgun|mapbox|mattermost|mistral|neptune|netlify|new[_-]?relic|nytimes|okta|opsgenie|pagerduty|paperspace"
    "|rapidapi|runpod|sendbird|sentry|snyk|sonar|squarespace|sumologic|telegram|travis|twilio|twitch|twitter|vastai|vultr|wandb|zendesk"
)

_A, _W, _H, _B = "[A-Za-z0-9]", "[A-Za-z0-9_-]", "[0-9a-f]", "[A-Za-z0-9+/]"
_UUID = f"{_H}{{8}}(?:-{_H}{{4}}){{3}}-{_H}{{12}}"

TOKENS: tuple[Token, ...] = (
    # code and packages
    Token("GitHub", "(?:gh[pousr]|github_pat)_", f"{_W}{{16,}}"),
    Token("GitLab", "gl(?:pat|dt|ft|rt|soat|ptt|imt|agent|oas|cbt|ffct|wt)-", rf"{_W}{{16,}}(?:\.[0-9a-z]{{2,}})*"),
    Token("GitLab runner", "GR1348941", f"{_W}{{16,}}"),
    Token("GitLab session", "_gitlab_session=", f"{_A}{{16,}}"),
    Token("npm, Docker Hub, PyPI", "(?:npm_|dckr_[op]at_|pypi-)", f"{_W}{{16,}}"),
    Token("RubyGems, Readme", "(?:rubygems|rdme)_", f"{_A}{{40,}}"),
    Token("Clojars, Figma, Postman", "(?:CLOJARS_|figd_|PMAK-)", f"{_W}{{24,}}"),
    Token("JFrog", "(?:AKCp|cmVmd)", f"{_A}{{58,}}"),
    Token("Sourcegraph, SonarQube", "(?:sgp|sq[uap])_", f"{_W}{{40,}}"),
    Token("CircleCI, Buildkite", "(?:CCIPAT|CCIPRJ|bkua|bkat)_", f"{_W}{{20,}}"),
    Token("Octopus", "API-", "[A-Z0-9]{26}(?![A-Za-z0-9])"),
    Token("Atlassian", "(?:AT[AC]TT3|ATBB|BBDC-)", "[A-Za-z0-9_=-]{20,}"),
    # models
    Token("Hugging Face", "(?:hf|api_org)_", f"{_W}{{16,}}"),
    Token("NGC", "nvapi-", f"{_W}{{16,}}"),
    Token("OpenAI, Anthropic, DeepSeek", "sk-", f"{_W}{{16,}}"),
    Token("Replicate, Groq, Fireworks", "(?:r8|gsk|fw)_", f"{_A}{{20,}}"),
    Token("Perplexity, xAI, Cerebras", "(?:pplx|xai|csk)-", f"{_A}{{30,}}"),
    Token("LangSmith, Pinecone, Together", "(?:lsv2_(?:pt|sk)|pcsk|tgp_v1)_", f"{_W}{{20,}}"),
    Token("Modal", "a[ks]-", f"{_A}{{22,}}"),
    Token("RunPod, Anyscale", "(?:rpa|esecret|aph0)_", f"{_A}{{20,}}"),
    Token("Weights & Biases", "wandb_v1_", f"{_W}{{16,}}"),
    Token("Prefect, PlanetScale", "(?:pn[ubt]|pscale_(?:tkn|oauth|pw))_", r"[A-Za-z0-9_=.-]{30,}"),
    # clouds
    Token("AWS key", "(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}", "(?![A-Za-z0-9])", exact=True),
    Token("AWS Bedrock", "(?:ABSK|bedrock-api-key-)", f"{_B}{{40,}}=*"),
    Token("EKS", r"k8s-aws-v1\.", f"{_W}{{40,}}"),
    Token("Google", "(?:AIza|GOCSPX-)", f"{_W}{{16,}}"),
    Token("Google OAuth", r"(?:ya29\.|1//0)", r"[A-Za-z0-9._-]{20,}"),
    Token("Entra ID", r"[A-Za-z0-9_~.]{3}[0-9]Q~", "[A-Za-z0-9_~.-]{31,}", exact=True),
    Token("Azure DevOps", f"{_A}{{76}}AZDO", f"{_A}{{4}}", exact=True),
    Token("DigitalOcean", "do[opr]_v1_", f"{_H}{{32,}}"),
    Token("Databricks", "(?:dapi|dkea)", f"{_H}{{32}}(?:-[0-9])?(?![A-Za-z0-9])", exact=True),
    Token("Alibaba, Tencent, Volcengine, Yandex", "(?:LTAI|AKID|AKLT|AQVN)", f"{_W}{{16,}}"),
    Token("Yandex", r"t1\.", rf"{_W}{{8,}}=*\.{_W}{{60,}}=*", exact=True),
    Token("Heroku", "HRKU-", f"{_W}{{30,}}", exact=True),
    Token("Cloudflare origin", r"v1\.0-", f"{_H}{{24}}-{_H}{{100,}}", exact=True),
    Token("Fly", "(?:fm[12][ar]?|fo1)_", "[A-Za-z0-9+/_-]{40,}=*"),
    Token("Supabase, Netlify, Vercel", "(?:sbp|sb_secret|nfp|vc[pikra])_", f"{_W}{{20,}}"),
    Token("Pulumi, Infracost", "(?:pul|ico)-", f"{_A}{{32,}}"),
    Token("Scalingo, Linear", "(?:tk-us-|lin_api_)", f"{_W}{{40,}}"),
    Token("Confluent, Elastic", "(?:cflt|essu_)", "[A-Za-z0-9+/_=-]{40,}"),
    # clusters
    Token("OpenShift", "sha256~", f"{_W}{{40,}}"),
    Token("k3s, RKE2", "K10[0-9a-f]{64}::", r"[^\s\"']{8,}", exact=True),
    Token("Rancher", "(?:token|kubeconfig)-[a-z0-9-]{1,60}:", "[a-z0-9]{54}(?![A-Za-z0-9])", exact=True),
    Token("HashiCorp Vault", r"hv[sbr]\.", f"{_W}{{20,}}"),
    Token("HashiCorp Vault before 1.10", rf"[sb]\.{_A}{{24}}", "(?![A-Za-z0-9_.-])"),
    Token("Terraform", r"[A-Za-z0-9]{14}\.atlasv1\.", "[A-Za-z0-9_=-]{40,}", exact=True),
    Token("Doppler", r"dp\.(?:pt|st|ct|sa|scim|audit)\.", r"[A-Za-z0-9._-]{30,}"),
    Token("1Password", "ops_eyJ", f"{_B}{{40,}}=*"),
    Token("1Password", "A3-[A-Z0-9]{6}-", "[A-Z0-9-]{20,}", exact=True),
    Token("age", "AGE-SECRET-KEY-(?:PQ-)?1", "[0-9A-Z]{50,}", exact=True),
    Token("Tailscale", "tskey-[a-z]+-", f"{_W}{{16,}}"),
    Token("Harness", r"[ps]at\.", rf"{_W}{{22}}\.{_A}{{24}}\.{_A}{{20}}", exact=True),
    Token("MUNGE credential", "MUNGE:", "[A-Za-z0-9+/=]{20,}:?", exact=True),
    Token("Ceph", "AQ[A-Za-z0-9+/]{36}==", "(?<===)", exact=True),
    # a private key, registry logins and others in base64: `-----BEGIN` that no certificate or public key follows, `{"auths":`, `{"k":"`
    Token("base64 of PEM", "LS0tLS1CRUdJTi", f"(?!BDRVJUSUZJQ0FUR|BQVUJMSUMgS0VZ){_B}{{20,}}=*", exact=True),
    Token("base64 of JSON", "(?:eyJhdXRocyI6|eyJrIjoi|eyJhIjoi|eyJhcGlf|ZXlKaGJHY2lPa)", "[A-Za-z0-9+/_.-]{16,}=*", exact=True),
    # watching and calling
    Token("Slack", r"(?:xox[abeoprs]-|xapp-|xoxe\.xox[bp]-)", f"{_W}{{10,}}"),
    Token("Discord bot", r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.", f"{_W}{{27,}}", exact=True),
    Token("Telegram bot", "(?:bot)?[0-9]{8,10}:AA", f"{_W}{{33,}}", exact=True),
    Token("Grafana", "gl(?:sa|c)_", "[A-Za-z0-9+/_=]{20,}"),
    Token("New Relic", "NR(?:AK|JS|II|RA|BR|IQ)-", "[A-Za-z0-9-]{16,}"),
    Token("New Relic licence", "[0-9a-fF]{32,36}NRAL", "(?![A-Za-z0-9])", exact=True),
    Token("Sentry", "sntry[su]_", "[A-Za-z0-9+/=_]{20,}"),
    Token("Dynatrace", r"dt0[a-z][0-9]{2}\.", rf"{_A}{{24}}\.{_A}{{40,}}", exact=True),
    Token("PagerDuty", rf"u\+{_W}{{18}}", "(?![A-Za-z0-9_-])"),
    Token("SendGrid", r"SG\.", rf"{_W}{{16,}}\.{_W}{{16,}}", exact=True),
    Token("Sendinblue", "xkeysib-", f"{_W}{{40,}}"),
    Token("Twilio", "SK[0-9a-f]{32}", "(?![A-Za-z0-9])", exact=True),
    Token("Mailgun, Mailchimp", "(?:key-[0-9a-f]{32}|[0-9a-f]{32}-us[0-9]{1,2})", "(?![A-Za-z0-9])", exact=True),
    Token("Stripe", "(?:[srp]k_(?:test|live|prod)|whsec)_", f"{_A}{{10,}}"),
    Token("Square", "sq0(?:atp|csp|idp)-", f"{_W}{{20,}}"),
    Token("Shopify", "shp(?:at|ca|pa|ss)_", f"{_A}{{32,}}"),
    Token("Airtable", r"pat[A-Za-z0-9]{14}\.", f"{_H}{{64}}", exact=True),
    Token("Notion", "ntn_", f"{_A}{{40,}}"),
    Token("Typeform, Duffel", "(?:tfp|duffel_(?:test|live))_", r"[A-Za-z0-9_.=-]{40,}"),
    Token("EasyPost, Facebook", "(?:EZ[AT]K|EAA[ACM])", f"{_A}{{50,}}"),
    Token("Plaid", "access-(?:sandbox|development|production)-", _UUID, exact=True),
    # hashes of passwords (crypt(5), LDAP), which can be tried offline
    Token(
        "crypt",
        r"\$(?:1|2[abxy]?|5|6|7|y|gy|apr1|sha1|argon2(?:id|i|d)|scrypt|pbkdf2[a-z0-9-]*)\$",
        r"[A-Za-z0-9./=,$+_-]{16,}",
        exact=True,
    ),
    Token("GRUB", r"grub\.pbkdf2\.sha\d{1,3}\.\d{1,8}\.", r"[0-9A-Z.]{40,}", exact=True),
    Token("LDAP", r"\{(?:SSHA|SSHA256|SSHA512|SHA|SMD5|CRYPT)\}", r"[A-Za-z0-9./=$+]{16,}", exact=True),
)
