"""Read a pickle without pickle: plain data only, nothing is imported or called.

A pickle is a program for a small stack machine. This one knows the instructions of protocols 0 to 5 that build None, bool, int, float, str,
bytes, tuple, list, dict and set. Those that name, call or build anything else are refused, and what they name is told. Memory is bounded:
a text is cut from the input, a container is counted, and what the machine keeps is at most a few times the input.

The instructions and their arguments: https://github.com/python/cpython/blob/main/Lib/pickletools.py
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

from gpudoctor.tools.torch.pickle_machine import Broken, Machine, Refused, plain_key

__all__ = ["Broken", "Refused", "load", "looks_like"]

LARGEST = 32 << 20  # bytes of one pickle; 20,000 operations of a flight recorder take about 3 MiB
MOST_STEPS = 8_000_000  # instructions: about 75 for one operation
DEEPEST = 32  # containers inside one another in the result; a flight recorder's dump has 6
LONGEST_NUMBER = 16  # bytes of a whole number; nanoseconds need 8

CONTAINERS = frozenset({list, dict, tuple, set, frozenset})  # a pickle of plain data makes no subclasses


def looks_like(data: bytes) -> bool:
    """Whether bytes begin as a pickle of protocol 2 to 5 does, which is what torch writes."""
    return len(data) > 3 and data[0] == 0x80 and 2 <= data[1] <= 5 and data[2] in b"}](\x95"


def load(data: bytes) -> Any:
    """The value that a pickle holds. Raises Refused and Broken, nothing else.

    >>> load(b"\\x80\\x02}X\\x07\\x00\\x00\\x00versionX\\x03\\x00\\x00\\x002.4s.")
    {'version': '2.4'}
    """
    if len(data) > LARGEST:
        raise Broken(f"larger than {LARGEST >> 20} MiB")
    machine = Machine(data)
    try:
        value = run(machine)
    except (IndexError, struct.error):
        raise Broken(f"cut off or damaged near byte {machine.at}") from None
    except (KeyError, TypeError, AttributeError, UnicodeError, OverflowError) as error:
        raise Broken(f"damaged near byte {machine.at} ({type(error).__name__})") from None
    check_depth(value)
    return value


def check_depth(value: Any) -> None:
    """Raise Broken when containers lie too deep in one another, as in a list that holds itself."""
    level = [value]
    for _ in range(DEEPEST):
        inside = {id(child): child for one in level for child in children(one) if type(child) in CONTAINERS}
        if not inside:
            return
        level = list(inside.values())
    raise Broken(f"containers nested deeper than {DEEPEST}, or one that holds itself")


def children(value: Any) -> Iterable[Any]:
    """What a container holds, without the keys, which are plain."""
    if type(value) is dict:
        return value.values()
    return value if type(value) in CONTAINERS else ()


def run(machine: Machine) -> Any:
    """Obey until STOP; → what lies on top then.

    The few instructions that make up most of a flight recorder's dump are obeyed here, since a call costs as much as they do.
    """
    data, stack, memo, at = machine.data, machine.stack, machine.memo, 0
    for _ in range(MOST_STEPS):
        code = data[at]
        at += 1
        if code == 0x68:  # BINGET
            stack.append(memo[data[at]])
            at += 1
        elif code == 0x6A:  # LONG_BINGET
            stack.append(memo[int.from_bytes(data[at : at + 4], "little")])
            at += 4
        elif code == 0x4B:  # BININT1
            stack.append(data[at])
            at += 1
        elif code == 0x4D:  # BININT2
            stack.append(data[at] | data[at + 1] << 8)
            at += 2
        elif code == 0x28:  # MARK
            machine.mark()
        elif code == 0x65:  # APPENDS
            machine.extend(machine.items_since_mark())
        elif code == 0x2E:  # STOP
            return stack.pop()
        else:
            machine.at = at
            if action := ACTIONS.get(code):
                action(machine)
            else:
                raise instruction_refusal(machine, code)
            at = machine.at
    raise Broken(f"more than {MOST_STEPS} instructions")


def instruction_refusal(machine: Machine, code: int) -> Exception:
    """Why an instruction is not obeyed, with what it names where it names something."""
    name = REFUSED.get(code)
    if name is None:
        return Broken(f"byte {machine.at - 1} is no instruction (0x{code:02x})")
    named = ""
    if code in b"ci":  # module and name on two lines
        named = f"{printable_name(machine.line())}.{printable_name(machine.line())}"
    elif code == 0x93:  # STACK_GLOBAL: both lie on the stack
        named = ".".join(printable_name(one) for one in machine.stack[-2:])
    return Refused(f"the pickle asks for {name}{f' {named}' if named else ''}, which is not plain data")


def printable_name(name: Any) -> str:
    """A name from the pickle for a message: short and printable."""
    text = name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name) if isinstance(name, str) else "?"
    return "".join(one if one.isprintable() else "?" for one in text[:80])


def signed_number(raw: bytes) -> int:
    """Decode a signed little-endian number."""
    if len(raw) > LONGEST_NUMBER:
        raise Broken(f"a number of {len(raw)} bytes")
    return int.from_bytes(raw, "little", signed=True)


def decimal(text: bytes) -> int | bool:
    """A number of protocol 0: `4`, `4L`; `00` and `01` are False and True."""
    if text in (b"00", b"01"):
        return text == b"01"
    digits = text.removesuffix(b"L")
    if len(digits) > 40 or not digits.removeprefix(b"-").isdigit():
        raise Broken("not a number")
    return int(digits)


def fraction(text: bytes) -> float:
    """A float of protocol 0."""
    try:
        return float(text[:64])
    except ValueError:
        raise Broken("not a number") from None


def quoted_text(text: bytes) -> str:
    """A string of protocol 0, as Python 2 wrote it: 'text' with its escapes left as they are."""
    if len(text) < 2 or text[:1] not in (b"'", b'"') or text[-1:] != text[:1]:
        raise Broken("a string without quotes")
    return decode_utf8(text[1:-1])


def decode_utf8(raw: bytes) -> str:
    """Decode UTF-8; invalid bytes become U+FFFD."""
    return raw.decode("utf-8", "replace")


def marked_dict(machine: Machine) -> None:
    """DICT: what was put on the stack since the last mark, as keys and values."""
    items = machine.items_since_mark()
    machine.hold({})
    machine.fill(items)


def drop(machine: Machine) -> None:
    """POP: take a value off the stack, or the mark that lies on top."""
    if machine.marks and len(machine.stack) == machine.marks[-1]:
        machine.marks.pop()
    else:
        machine.stack.pop()


# Instruction → what it does, but for the few of `run`. The order is that of pickletools.
ACTIONS: dict[int, Callable[[Machine], None]] = {
    ord("I"): lambda m: m.push(decimal(m.line())),  # INT
    ord("J"): lambda m: m.push(signed_number(m.take(4))),  # BININT
    ord("L"): lambda m: m.push(decimal(m.line())),  # LONG
    0x8A: lambda m: m.push(signed_number(m.take(m.number(1)))),  # LONG1
    0x8B: lambda m: m.push(signed_number(m.take(m.number(4)))),  # LONG4
    ord("S"): lambda m: m.push(quoted_text(m.line())),  # STRING
    ord("T"): lambda m: m.push(decode_utf8(m.take(m.number(4)))),  # BINSTRING
    ord("U"): lambda m: m.push(decode_utf8(m.take(m.number(1)))),  # SHORT_BINSTRING
    ord("B"): lambda m: m.push(m.take(m.number(4))),  # BINBYTES
    ord("C"): lambda m: m.push(m.take(m.number(1))),  # SHORT_BINBYTES
    0x8E: lambda m: m.push(m.take(m.number(8))),  # BINBYTES8
    0x96: lambda m: m.push(m.take(m.number(8))),  # BYTEARRAY8
    ord("N"): lambda m: m.push(None),  # NONE
    0x88: lambda m: m.push(True),  # NEWTRUE
    0x89: lambda m: m.push(False),  # NEWFALSE
    ord("V"): lambda m: m.push(m.line().decode("raw-unicode-escape", "replace")),  # UNICODE
    0x8C: lambda m: m.push(decode_utf8(m.take(m.number(1)))),  # SHORT_BINUNICODE
    ord("X"): lambda m: m.push(decode_utf8(m.take(m.number(4)))),  # BINUNICODE
    0x8D: lambda m: m.push(decode_utf8(m.take(m.number(8)))),  # BINUNICODE8
    ord("F"): lambda m: m.push(fraction(m.line())),  # FLOAT
    ord("G"): lambda m: m.push(struct.unpack(">d", m.take(8))[0]),  # BINFLOAT
    ord("]"): lambda m: m.hold([]),  # EMPTY_LIST
    ord("a"): lambda m: m.extend([m.pop()]),  # APPEND
    ord("l"): lambda m: m.hold(m.items_since_mark()),  # LIST
    ord(")"): lambda m: m.hold(()),  # EMPTY_TUPLE
    ord("t"): lambda m: m.hold(tuple(m.items_since_mark())),  # TUPLE
    0x85: lambda m: m.tuple_of(1),  # TUPLE1
    0x86: lambda m: m.tuple_of(2),  # TUPLE2
    0x87: lambda m: m.tuple_of(3),  # TUPLE3
    ord("}"): lambda m: m.hold({}),  # EMPTY_DICT
    ord("d"): marked_dict,  # DICT
    ord("s"): lambda m: m.fill([m.pop(), m.pop()][::-1]),  # SETITEM
    ord("u"): lambda m: m.fill(m.items_since_mark()),  # SETITEMS
    0x8F: lambda m: m.hold(set()),  # EMPTY_SET
    0x90: lambda m: m.add(m.items_since_mark()),  # ADDITEMS
    0x91: lambda m: m.hold(frozenset(plain_key(one) for one in m.items_since_mark())),  # FROZENSET
    ord("0"): drop,  # POP
    ord("1"): lambda m: m.items_since_mark().clear(),  # POP_MARK
    ord("2"): lambda m: m.push(m.stack[-1]),  # DUP
    ord("g"): lambda m: m.push(m.memo[decimal(m.line())]),  # GET
    ord("p"): lambda m: m.keep(decimal(m.line())),  # PUT
    ord("q"): lambda m: m.keep(m.number(1)),  # BINPUT
    ord("r"): lambda m: m.keep(m.number(4)),  # LONG_BINPUT
    0x94: lambda m: m.keep(len(m.memo)),  # MEMOIZE: the next place
    0x80: lambda m: m.skip(1),  # PROTO: what a version may contain doesn't matter here
    0x95: lambda m: m.skip(8),  # FRAME
}
# Instruction → its name, for what is refused: each of them names, calls or fills an object, or asks somebody outside for one.
REFUSED = {
    ord("c"): "the global",
    0x93: "the global",
    ord("i"): "an instance of",
    ord("o"): "an instance (OBJ)",
    0x81: "a new object (NEWOBJ)",
    0x92: "a new object (NEWOBJ_EX)",
    ord("R"): "a call (REDUCE)",
    ord("b"): "the state of an object (BUILD)",
    ord("P"): "a persistent object (PERSID)",
    ord("Q"): "a persistent object (BINPERSID)",
    0x82: "a registered object (EXT1)",
    0x83: "a registered object (EXT2)",
    0x84: "a registered object (EXT4)",
    0x97: "a buffer from outside (NEXT_BUFFER)",
    0x98: "a buffer from outside (READONLY_BUFFER)",
}
