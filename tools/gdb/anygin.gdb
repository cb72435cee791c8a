# SPDX-License-Identifier: Apache-2.0
# Lanes (GPU threads of the cpu target) for gdb:  gdb -x <prefix>/cpu/share/anygin.gdb --args ./program
#   info lanes [TEXT]   every lane that has started: which, where, what it waits for; with TEXT only lines that contain it
#   lane N              go to lane N of that list: backtrace, print, up, down and threadIdx are its own now
#   lane N COMMAND      run one command there, and come back
#   lane                back to where the program stopped; so do continue, step, next, finish ...
# threadIdx, blockIdx, blockDim and gridDim print at any stop in a kernel, and conditions may use them:
#   break kernel.cu:31 if threadIdx.x == 37 && blockIdx.x == 1      (after `start`: libanygin.so must be loaded)
python
import gdb

WORDS = ("threadIdx", "blockIdx", "blockDim", "gridDim")


class Lane:
    def __init__(self, number, line):
        self.number = number
        device, grid, self.kernel, block, thread, registers, self.what = line.split("\t")
        self.device, self.grid = int(device), int(grid)
        self.block = [int(x) for x in block.split(",")]
        self.thread = [int(x) for x in thread.split(",")]
        self.registers = {} if registers == "-" else dict(pair.split("=") for pair in registers.split(" "))

    def place(self):
        """file:line where it waits; empty for the lane that runs: its thread shows it."""
        return place_of(self) if self.registers else ""

    def text(self):
        return "%4d  device %d grid %d %s block (%s) thread (%s): %s" % (
            self.number, self.device, self.grid, self.kernel, ",".join(map(str, self.block)),
            ",".join(map(str, self.thread)), self.what)


class Elsewhere:
    """The stopped thread shows another lane's registers while this is set."""
    saved = None


def quietly(command):
    return gdb.execute(command, to_string=True)


def read_words():
    return {word: [int(gdb.parse_and_eval(word)[axis]) for axis in "xyz"] for word in WORDS}


def write_words(words):
    for word, values in words.items():
        for axis, value in zip("xyz", values):
            quietly("set var %s.%s = %d" % (word, axis, value))


def go_back():
    if Elsewhere.saved is None:
        return
    thread, registers, words = Elsewhere.saved
    Elsewhere.saved = None
    if not thread.is_valid():
        return
    thread.switch()
    gdb.newest_frame().select()
    for name, value in registers.items():
        quietly("set $%s = %d" % (name, value))
    write_words(words)


def go_to(lane):
    go_back()
    if not lane.registers:
        raise gdb.GdbError("lane %d runs: it is on a thread of its own, see `info threads`" % lane.number)
    gdb.newest_frame().select()
    registers = {name: int(gdb.parse_and_eval("(unsigned long)$" + name)) for name in lane.registers}
    Elsewhere.saved = (gdb.selected_thread(), registers, read_words())
    for name, value in lane.registers.items():
        quietly("set $%s = %s" % (name, value))
    write_words({"threadIdx": lane.thread, "blockIdx": lane.block})


OURS = ("/anygin/", "/anygin_cuda/", "/nccl_device/", "/simt/", "/backends/", "/cuda/atomic", "/lib/base/")


def users_frame():
    """The innermost frame that is the user's; None if there is none, as in a program without line tables."""
    frame = gdb.newest_frame()
    while frame is not None:
        symtab = frame.find_sal().symtab
        solib = gdb.solib_name(frame.pc())
        if symtab is not None and (solib is None or "libanygin" not in solib):
            name = symtab.fullname()
            if not any(part in name for part in OURS) and "cooperative_groups" not in name:
                return frame
        frame = frame.older()
    return None


def place_of(lane):
    go_to(lane)
    try:
        frame = users_frame()
        sal = frame.find_sal() if frame is not None else None
        return "%s:%d" % (sal.symtab.filename.split("/")[-1], sal.line) if sal else ""
    except gdb.error:
        return ""
    finally:
        go_back()


def all_lanes():
    go_back()
    if gdb.selected_thread() is None:
        raise gdb.GdbError("the program does not run")
    locking = gdb.parameter("scheduler-locking")
    quietly("set scheduler-locking on")  # the others stand still while the list is made
    try:
        text = gdb.parse_and_eval("((const char *(*)(void))anygin_debug_lanes)()").string()
    except gdb.error as error:
        raise gdb.GdbError("no lanes: %s (has the program loaded libanygin.so?)" % error)
    finally:
        quietly("set scheduler-locking " + locking)
    return [Lane(number, line) for number, line in enumerate(text.splitlines())]


class InfoLanes(gdb.Command):
    """Lanes (GPU threads) that have started: info lanes [TEXT]"""
    MOST = 200  # each place is looked up on the lane's own stack

    def __init__(self):
        super().__init__("info lanes", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        lanes = all_lanes()
        fitting = [lane for lane in lanes if argument in lane.text()]
        for lane in fitting[:self.MOST]:
            place = lane.place()
            print(lane.text() + (" at " + place if place else ""))
        print("%d of %d lanes%s" % (len(fitting), len(lanes), ", the first %d shown" % self.MOST if len(fitting) > self.MOST else ""))


class GoToLane(gdb.Command):
    """lane N: show that lane of `info lanes`; lane N COMMAND: one command there; lane: back."""

    def __init__(self):
        super().__init__("lane", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = argument.split(None, 1)
        if not words:
            return go_back()
        lanes = all_lanes()
        number = int(words[0]) if words[0].isdigit() else len(lanes)
        if number >= len(lanes):
            raise gdb.GdbError("lane %s: lanes are 0 to %d, see `info lanes`" % (words[0], len(lanes) - 1))
        go_to(lanes[number])
        frame = users_frame()
        if frame is not None:
            frame.select()
        if len(words) == 1:
            print("lane %d: %s" % (number, lanes[number].what))
            return gdb.execute("frame")
        try:
            gdb.execute(words[1])
        finally:
            go_back()


InfoLanes()
GoToLane()
for command in ("continue", "step", "next", "stepi", "nexti", "finish", "until", "advance", "jump", "signal", "detach", "run"):
    gdb.execute("define hook-%s\npython go_back()\nend" % command)
end
