"""The server's certificate and the kubeconfig that trusts it."""

from __future__ import annotations

import base64
import ipaddress
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"


def certificate(folder: Path) -> tuple[Path, bytes]:
    """Make a throw-away certificate that is its own CA. Writes FOLDER/server.pem (key and certificate); returns it and the CA in PEM."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "kubernetes")])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HOST)), x509.DNSName("localhost")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    public = made.public_bytes(serialization.Encoding.PEM)
    path = folder / "server.pem"
    path.touch(mode=0o600)
    path.write_bytes(private + public)
    return path, public


def kubeconfig(url: str, ca: bytes, user: dict[str, Any], namespace: str = "ml") -> str:
    """A kubeconfig with one context, `test`. JSON is YAML too."""
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": {"server": url, "certificate-authority-data": base64.b64encode(ca).decode()}}],
            "users": [{"name": "oncall", "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "oncall", "namespace": namespace}}],
            "current-context": "test",
        },
        indent=2,
    )
