"""A throw-away certificate authority, and the kubeconfigs of those that it vouches for."""

from __future__ import annotations

import ipaddress
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

HOST = "127.0.0.1"
SERVICE = "10.96.0.1"  # the first address of the services, which the API server takes for itself


class Authority:
    """Writes keys and certificates into a folder: `NAME.key` and `NAME.crt`, its own as `ca`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "gpudoctor-test-ca")])
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.write("ca", self.key, self.name, authority=True)

    def sign(self, name: str, user: str, group: str = "") -> None:
        """A certificate for a user of the cluster, or for a server on the loopback."""
        attributes = [x509.NameAttribute(x509.NameOID.COMMON_NAME, user)]
        attributes += [x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, group)] if group else []
        self.write(name, ec.generate_private_key(ec.SECP256R1()), x509.Name(attributes))

    def write(self, name: str, key: ec.EllipticCurvePrivateKey, subject: x509.Name, *, authority: bool = False) -> None:
        now = datetime.now(UTC)
        hosts = x509.SubjectAlternativeName(
            [x509.DNSName("localhost"), *(x509.IPAddress(ipaddress.ip_address(address)) for address in (HOST, SERVICE))]
        )
        made = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=30))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .add_extension(hosts, critical=False)
            .sign(self.key, hashes.SHA256())
        )
        (self.folder / f"{name}.key").write_bytes(private(key))
        (self.folder / f"{name}.crt").write_bytes(made.public_bytes(serialization.Encoding.PEM))

    def token_key(self) -> None:
        """The key with which tokens of service accounts are signed: `sa.key` and `sa.pub`."""
        key = ec.generate_private_key(ec.SECP256R1())
        (self.folder / "sa.key").write_bytes(private(key))
        public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        (self.folder / "sa.pub").write_bytes(public)


def private(key: ec.EllipticCurvePrivateKey) -> bytes:
    """A key as the programs of Kubernetes read it."""
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())


def kubeconfig(folder: Path, name: str, url: str) -> Path:
    """The kubeconfig of whoever has `NAME.crt`, beside the folder of certificates."""
    path = folder.parent / f"{name}.kubeconfig"
    made = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {"server": url, "certificate-authority": str(folder / "ca.crt")}}],
        "users": [{"name": name, "user": {"client-certificate": str(folder / f"{name}.crt"), "client-key": str(folder / f"{name}.key")}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": name, "namespace": "default"}}],
        "current-context": "test",
    }
    path.write_text(json.dumps(made, indent=1), encoding="utf-8")
    return path
