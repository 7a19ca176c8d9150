"""The files behind the paths of a command line: folders, patterns that the shell left alone, standard input."""

from __future__ import annotations

import errno
import fnmatch
import glob
import os
from collections.abc import Iterator
from pathlib import Path

from gpudoctor.intake import mounts

PIPES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")  # `<(kubectl logs …)` of a shell
STDIN = "-"


def expand_pattern(path: str) -> list[str]:
    """The path, or what a pattern stands for where no file has its name; [] for neither.

    A pattern is what the shell knows, `**` included: `logs/**/rank-*.log` in quotes.
    """
    if path == STDIN or is_there(path):
        return [path]
    return sorted({*matching_paths(path)}) if glob.has_magic(path) and "\0" not in path else []


def matching_paths(pattern: str) -> Iterator[str]:
    """What a pattern stands for. Python's own `glob` waits for ever for a dead mount, and its `**` follows links in circles."""
    waiting = [("", pattern.split("/"))]  # what was found, with the slash behind it, and how it goes on
    while waiting:
        before, (part, *rest) = waiting.pop()
        if not glob.has_magic(part):
            if rest:
                waiting.append((f"{before}{part}/", rest))
            elif is_there(before + part):
                yield before + part
            continue
        try:
            mounts.check(before)
            with os.scandir(before or ".") as listed:
                entries = [entry for entry in listed if not entry.name.startswith(".") or part.startswith(".")]
        except TimeoutError:  # its reading will tell
            yield before
            continue
        except OSError:
            continue
        if part != "**":
            found = [before + entry.name for entry in entries if fnmatch.fnmatchcase(entry.name, part)]
            if rest:
                waiting += [(f"{path}/", rest) for path in found]
            else:
                yield from found
        elif rest:
            waiting += [
                (before, rest),
                *((f"{before}{entry.name}/", [part, *rest]) for entry in entries if entry.is_dir(follow_symlinks=False)),
            ]
        else:
            yield before or "."


def is_there(path: str) -> bool:
    """Whether there is a file or a folder of that name, or something that keeps us from knowing, which its reading will tell."""
    try:
        mounts.check(path)
        os.stat(path)  # noqa: PTH116  # a Path forgets a slash at the end
    except OSError as error:
        return error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)
    except ValueError:  # a NUL byte
        return False
    return True


def walk(path: str) -> Iterator[str]:
    """The files under a path, those of a folder sorted by name and before those of its folders; and the folders that can't be listed.

    Links to folders are not followed, so that no loop is entered; hidden folders (.git) are left out.
    """
    for found in expand_pattern(path) or [path]:
        if found == STDIN or not is_folder(found):
            yield found
            continue
        waiting = [found]
        while waiting:
            folder = waiting.pop()
            try:
                mounts.check(folder)
                with os.scandir(folder) as listed:
                    entries = sorted(listed, key=lambda entry: entry.name)
            except OSError:
                yield folder
                continue
            inner: list[str] = []
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    inner += [entry.path] if not entry.name.startswith(".") else []
                elif not (entry.is_symlink() and is_folder(entry.path)):
                    yield entry.path
            waiting += reversed(inner)


def is_folder(path: str) -> bool:
    """Whether there is a folder of that name; what can't be told is tried as a file, and then says why."""
    try:
        mounts.check(path)
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def printable_path(path: str) -> str:
    """A path or the name of a member as one line of text: control characters and bytes that are not UTF-8 become escapes."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return text if text.isprintable() else "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def member_path(archive: str, name: str) -> str:
    """The path that a member is shown with: below its archive, wherever its name leads.

    >>> member_path("mg.tar.gz", "./pods/x.log"), member_path("mg.tar.gz", "../../etc/passwd")
    ('mg.tar.gz/pods/x.log', 'mg.tar.gz/etc/passwd')
    """
    return "/".join([archive, *map(printable_path, parts_of(name))])


def parts_of(name: str) -> list[str]:
    """The folders and the name of a member, without those that lead nowhere or upwards; Windows separates them by backslashes."""
    return [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]


def is_hidden(name: str) -> bool:
    """Whether a member is of a hidden folder, or one that macOS puts beside each file."""
    *folders, last = parts_of(name) or [""]
    return last.startswith("._") or last == ".DS_Store" or any(folder.startswith(".") or folder == "__MACOSX" for folder in folders)
