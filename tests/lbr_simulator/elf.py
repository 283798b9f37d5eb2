# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the simulator needs to know of a 64-bit x86 ELF file: build id, segments, where main() and the
other functions begin."""
import bisect
import struct
import subprocess

PT_LOAD, PT_NOTE, PT_GNU_EH_FRAME = 1, 4, 0x6474E550
NT_GNU_BUILD_ID = 3


class Elf:
    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.entry, table = struct.unpack_from("<QQ", self.bytes, 24)
        size, count = struct.unpack_from("<HH", self.bytes, 54)
        # type, flags, file offset, address, physical address, bytes in the file, bytes, alignment
        self.segments = [struct.unpack_from("<IIQQQQQQ", self.bytes, table + size * i) for i in range(count)]

    def address_of(self, file_offset):
        """The address in the file's own terms of a place in it; None outside of the segments."""
        for kind, _, start, address, _, size, _, _ in self.segments:
            if kind == PT_LOAD and start <= file_offset < start + size:
                return file_offset - start + address
        return None

    def _offset_of(self, address):
        for kind, _, start, first, _, size, _, _ in self.segments:
            if kind == PT_LOAD and first <= address < first + size:
                return address - first + start
        return None

    def build_id(self):
        for kind, _, at, _, _, size, _, _ in self.segments:
            end = at + size
            while kind == PT_NOTE and at + 12 <= end:
                name, length, note = struct.unpack_from("<III", self.bytes, at)
                value = at + 12 + (name + 3) // 4 * 4
                if note == NT_GNU_BUILD_ID and self.bytes[at + 12 : at + 16] == b"GNU\0":
                    return self.bytes[value : value + length]
                at = value + (length + 3) // 4 * 4
        return None

    def main(self):
        """Where main() begins: _start() hands it to the C library in RDI. None if it does not."""
        at = self._offset_of(self.entry)
        if at is None:
            return None
        code = self.bytes[at : at + 64]
        lea, mov = code.find(b"\x48\x8d\x3d"), code.find(b"\x48\xc7\xc7")
        if lea >= 0:  # lea offset(%rip), %rdi
            return self.entry + lea + 7 + struct.unpack_from("<i", code, lea + 3)[0]
        if mov >= 0:  # mov $address, %rdi
            return struct.unpack_from("<i", code, mov + 3)[0]
        return None

    def _frame_starts(self):
        """Where functions begin, by the sorted table of .eh_frame_hdr (LSB 5.0, 10.6.2)."""
        for kind, _, at, address, _, _, _, _ in self.segments:
            if kind == PT_GNU_EH_FRAME and self.bytes[at + 1 : at + 4] == b"\x1b\x03\x3b":
                count = struct.unpack_from("<I", self.bytes, at + 8)[0]
                pairs = struct.unpack_from("<%di" % (2 * count), self.bytes, at + 12)
                return [address + start for start in pairs[::2]]
        return []

    def functions(self):
        """Sorted list of (start, name); functions without a name are called by their address."""
        names = {start: "sub_%x" % start for start in self._frame_starts()}
        for table in ("-D", "-a"):
            done = subprocess.run(["nm", table, "--defined-only", self.path], capture_output=True, text=True)
            for line in done.stdout.splitlines():
                fields = line.split()
                if len(fields) < 3:
                    continue
                value, kind, name = fields[:3]
                if kind in "tTwWi":
                    names[int(value, 16)] = name.split("@")[0]
        return sorted(names.items())


class Functions:
    """Looks up addresses in the functions of one file."""

    def __init__(self, path):
        self.elf = Elf(path)
        self.table = self.elf.functions()
        self.starts = [start for start, _ in self.table]

    def find(self, file_offset):
        """(start in the file's own terms, name) of the function there, or None."""
        address = self.elf.address_of(file_offset)
        at = bisect.bisect_right(self.starts, address) - 1 if address is not None else -1
        return self.table[at] if at >= 0 else None
