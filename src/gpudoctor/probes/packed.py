"""A recording that somebody has packed: a .tar, .tar.gz or .zip with the folder of one bundle, and nothing else, in it.

Other packings unpack a little into far too much at once; `analyze` reads what is in them as files.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gpudoctor.patterns import regex
from gpudoctor.probes import bundle
from gpudoctor.probes.bundle import INDEX, LARGEST, Bundle, BundleError

ENDINGS = (".tar", ".tar.gz", ".tgz", ".zip")
MOST = 512 * 1024 * 1024  # bytes of all files, unpacked
# dmesg-time-format-iso-2efcaf17.txt, kubectl-get-pods-0f987b8b.2.txt
RECORDED = regex(r"[a-z0-9-]+-[0-9a-f]{8}[0-9a-z.-]*")
BESIDE = ("._", ".DS_Store")  # what macOS adds


def load(path: Path) -> tuple[Bundle, dict[str, bytes]] | None:
    """What was recorded, and its files by their names; None for what is no archive, or one of something else. Raises BundleError for a
    bundle that can't be read. Nothing is written.
    """
    if not path.name.lower().endswith(ENDINGS) or not path.is_file():
        return None
    import tarfile
    import zipfile

    kept: dict[str, bytes] = {}
    folders, size = set(), 0
    try:
        for name, data in members(path):
            folder, _, last = name.rpartition("/")
            if last.startswith(BESIDE):
                continue
            folders.add(folder)
            if len(folders) > 1 or not (last.startswith(INDEX) or RECORDED.fullmatch(last)):
                return None
            kept[last] = data
            size += len(data)
            if size > MOST:
                raise BundleError(f"{path} holds more than {MOST >> 20} MiB: unpack it, and give its folder")
    except BundleError:
        raise
    except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError):
        return None
    if INDEX not in kept:
        return None
    made = bundle.decode(path, kept[INDEX])
    for one in made.outputs:
        if missing := [name for name in one.files if name not in kept]:
            raise BundleError(f"{path} is incomplete: the file {missing[0][:80]} is missing; pack the folder again")
    return made, kept


def members(path: Path) -> Iterator[tuple[str, bytes]]:
    """The plain files in an archive, each as far as a bundle may hold it."""
    import tarfile
    import zipfile

    if path.name.lower().endswith(".zip"):
        with zipfile.ZipFile(path) as packed:
            for info in packed.infolist():
                if not info.is_dir():
                    with packed.open(info) as file:
                        yield info.filename, file.read(LARGEST)
        return
    with tarfile.open(path, "r|" if path.name.lower().endswith(".tar") else "r|gz") as packed_tar:
        for member in packed_tar:
            if member.isfile() and (content := packed_tar.extractfile(member)) is not None:
                yield member.name, content.read(LARGEST)
