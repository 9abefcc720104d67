// Python programs that use the desktop's accessibility interface (AT-SPI): they print what the windows show, and press a button.

const walk = `
import gi, sys
gi.require_version('Atspi', '2.0')
from gi.repository import Atspi, GLib

def shown(node, told, depth=0):
    if told and depth > 1 and not node.get_state_set().contains(Atspi.StateType.SHOWING):
        return
    yield node
    for at in range(min(node.get_child_count(), 200)):
        child = node.get_child_at_index(at)
        if child and depth < 30:
            yield from shown(child, told, depth + 1)

# GTK 4 tells of windows only that they are shown: all of what is in them counts as shown.
def tells(program):
    return not (program.get_toolkit_name() == 'GTK' and program.get_toolkit_version().startswith('4'))

def everything():
    desktop = Atspi.get_desktop(0)
    for at in range(desktop.get_child_count()):
        program = desktop.get_child_at_index(at)
        if program:
            yield from shown(program, tells(program))
`

/** A line for each name and each text that is shown. */
export const reading = `${walk}
for node in everything():
    texts = [node.get_name()]
    if 'Text' in node.get_interfaces():
        texts.append(Atspi.Text.get_text(node, 0, -1))
    for text in texts:
        if text and text.strip():
            print(' '.join(text.split()))
`

/** Presses the button called `argv[1]`; ends with 1 where there is none, or where it cannot be pressed yet. */
export const pressing = `${walk}
for node in everything():
    if node.get_name() == sys.argv[1] and 'Action' in node.get_interfaces():
        if node.get_state_set().contains(Atspi.StateType.SENSITIVE):
            sys.exit(0 if Atspi.Action.do_action(node, 0) else 1)
sys.exit(1)
`
