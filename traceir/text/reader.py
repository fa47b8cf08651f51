"""Tokens to a syntax tree, by recursive descent.

Serves: text.syntax, text.opaque
"""

from __future__ import annotations

from traceir.ir.avals import ShapedArray
from traceir.text import syntax
from traceir.text.cursor import Cursor
from traceir.text.lexer import NUMBER_WORDS, SourceText
from traceir.text.mesh_values import READ
from traceir.text.objects import FIELDS

# What NumPy writes around a scalar.
WRAPPERS = frozenset({"np.int64"})


class ProgramParser(Cursor):
    """Reads programs, from left to right."""

    def __init__(self, source: SourceText) -> None:
        super().__init__(source)
        self.shared: list[tuple[str, syntax.ProgramNode]] = []
        # A program may be used by one that is written before it.
        self.let = {
            name.text
            for word, name, sign, begin in zip(
                self.tokens, self.tokens[1:], self.tokens[2:], self.tokens[3:]
            )
            if (word.text, sign.text, begin.text) == ("let", "=", "{")
        }

    def module(self) -> syntax.ModuleNode:
        """`{let name = program in} program`, to the end of the source."""
        shared = self.shared
        while self.accept("let"):
            name = self.variable("the name of a program")
            if name.text in dict(shared):
                raise self.fail("a name not yet used", name)
            self.expect("=")
            shared.append((name.text, self.program()))
            self.expect("in")
        main = self.program()
        if self.peek().kind != "end":
            raise self.fail("the end of the program")
        return syntax.ModuleNode(tuple(shared), main)

    def program(self) -> syntax.ProgramNode:
        """`{ lambda constants ; inputs. let equations in (results) }`."""
        return self.nested(self._program)

    def _program(self) -> syntax.ProgramNode:
        """Read a program from its opening brace to its closing one."""
        at = self.expect("{", "a program `{ lambda ; … }`").at
        self.expect("lambda")
        constants = self.binders(";", values=True)
        inputs = self.binders(".", statics=True)
        self.expect("let")
        equations: list[syntax.EquationNode] = []
        apart = True
        while not self.has("in", "("):
            if not apart:
                raise self.fail("`;` or a new line before the next equation")
            equations.append(self.equation())
            apart = self.on_new_line(self.index)
            while self.accept(";"):
                apart = True
        self.expect("in")
        results = self.results()
        self.expect("}")
        return syntax.ProgramNode(constants, inputs, tuple(equations), results, at)

    def results(self) -> tuple[syntax.Operand, ...]:
        """`(a, b)`, `(a,)` or `()`."""
        self.expect("(")
        return tuple(self.separated(")", self.operand))

    # -- variables and types --------------------------------------------------

    def binders(
        self, stop: str, values: bool = False, statics: bool = False
    ) -> tuple[syntax.BinderNode, ...]:
        """Definitions up to and with the token `stop`."""
        found = []
        while not self.has(stop):
            found.append(self.binder(f"a variable or `{stop}`", values, statics))
        self.expect(stop)
        return tuple(found)

    def binder(
        self, what: str, values: bool = False, statics: bool = False
    ) -> syntax.BinderNode:
        """`name:type`, or `name` alone in an untyped program."""
        static = statics and self.has("static") and self.peek(1).kind == "name"
        self.index += static
        token = self.variable(what)
        aval = self.aval() if self.accept(":") else None
        value = None
        if values and aval and self.accept("="):
            value = self.elements()
        return syntax.BinderNode(token.text, aval, token.at, value, static)

    def aval(self) -> ShapedArray:
        """`f32[2,3]`, `~f32[2,3]` if it is weakly typed, `f32[]{V:x}` if it varies."""
        weak = self.accept("~")
        token = self.name("a type such as `f32[3]`")
        dtype = self.dtypes.get(token.text)
        if dtype is None:
            raise self.fail("a dtype such as `f32`", token)
        self.expect("[")
        shape = self.separated("]", self.extent, False)
        return ShapedArray(shape, dtype, weak, vma=self.varying())

    def varying(self) -> list[str]:
        """The axes in `{V:x}` or `{V:(x,y)}`, along which a value may vary."""
        if not self.has("{", "V", ":"):
            return []
        self.index += 3
        if self.accept("("):
            found = self.separated(")", lambda: self.name("the name of an axis"), False)
        else:
            found = [self.name("the name of an axis")]
        self.expect("}")
        return [token.text for token in found]

    def extent(self) -> int:
        """The size of one dimension."""
        token = self.take()
        if token.kind != "number" or not token.text.isdecimal() or len(token.text) > 18:
            raise self.fail("the size of a dimension", token)
        return int(token.text)

    def is_aval(self) -> bool:
        """True if a type stands here."""
        ahead = int(self.has("~"))
        return self.peek(ahead).text in self.dtypes and self.peek(ahead + 1).text == "["

    def elements(self) -> tuple[syntax.NumberNode, ...]:
        """`{1 2 3}`: the elements of an array in row-major order."""
        self.expect("{")
        found = []
        while not self.accept("}"):
            found.append(self.number())
            self.accept(",")
        return tuple(found)

    def number(self) -> syntax.NumberNode:
        """A number or a truth value, without a type."""
        token = self.take()
        if token.kind != "number" and token.text not in NUMBER_WORDS:
            raise self.fail("a number", token)
        text = token.text
        if text.lstrip("-") == "nan" and self.accept("("):
            text += f"({self.take().text})"
            self.expect(")")
        return syntax.NumberNode(text, None, token.at)

    # -- equations ------------------------------------------------------------

    def equation(self) -> syntax.EquationNode:
        """`results = primitive[params] operands`."""
        at = self.peek().at
        outputs = self.binders("=") if self._binds(self.index) else ()
        primitive = self.name("an equation or `in (`")
        effects = []
        while self.accept("!"):
            effects.append(self.variable("the name of an effect").text)
        params = self.nested(self.params) if self.accept("[") else ()
        inputs = self.operands(self.column(at))
        return syntax.EquationNode(
            outputs, primitive.text, tuple(effects), params, inputs, at
        )

    def _binds(self, index: int) -> bool:
        """True if variables and `=` stand here: typed ones, or bare ones on a line."""
        bare = False
        while self.tokens[index].kind == "name":
            if bare and self.on_new_line(index):
                return False
            bare = self.tokens[index + 1].text != ":"
            index = index + 1 if bare else self._after_aval(index + 2)
        return self.tokens[index].text == "="

    def _after_aval(self, index: int) -> int:
        last = len(self.tokens) - 1
        while index < last and self.tokens[index].text != "]":
            index += 1
        index = min(index + 1, last)
        if self.tokens[index].text == "{" and self.tokens[index - 1].text == "]":
            while index < last and self.tokens[index].text != "}":
                index += 1
            index = min(index + 1, last)
        return index

    def operands(self, column: int) -> tuple[syntax.Operand, ...]:
        """Operands up to the next equation; longer lists go on in deeper lines."""
        found: list[syntax.Operand] = []
        while self.peek().kind in ("name", "number") and not self.has("in", "("):
            if self.on_new_line(self.index) and self._equation_starts(column):
                break
            found.append(self.operand())
        return tuple(found)

    def _equation_starts(self, column: int) -> bool:
        first, second = self.peek(), self.peek(1)
        shallow = self.column(first.at) <= column
        if first.kind == "number":
            return shallow
        if second.text == ":":
            # `nan:f32[]` can be a literal or, in a very long program, a variable.
            return shallow or first.text not in NUMBER_WORDS
        return shallow or second.text in ("[", "!") or self._binds(self.index)

    def operand(self) -> syntax.Operand:
        """A variable or a literal, `x` or `2.0:f32[]`."""
        token = self.peek()
        if token.kind not in ("name", "number"):
            raise self.fail("a variable or a literal")
        if token.kind == "name" and self.peek(1).text not in (":", "("):
            return syntax.NameNode(self.variable("a variable").text, token.at)
        number = self.number()
        if not self.accept(":"):
            return number
        return syntax.NumberNode(number.text, self.aval(), number.at)

    # -- parameters -----------------------------------------------------------

    def params(self) -> tuple[syntax.ParameterNode, ...]:
        """`name=value` up to and with `]`."""
        found: list[syntax.ParameterNode] = []
        while not self.accept("]"):
            token = self.variable("a parameter or `]`")
            if token.text in {p.name for p in found}:
                raise self.fail("a parameter not yet given", token)
            self.expect("=")
            found.append(syntax.ParameterNode(token.text, self.value(), token.at))
            self.accept(",")
        return tuple(found)

    def value(self) -> syntax.Value:
        """The value of a parameter: a word, a number, a list or a program."""
        token = self.peek()
        if token.text == "{":
            return self.program()
        if token.text.lstrip("-") == "nan" and self.peek(1).text == "(":
            return self.number()
        self.take()
        if token.text in ("(", "["):
            close = ")" if token.text == "(" else "]"
            return self.nested(lambda: self.many(close, token.at))
        match token.kind:
            case "number":
                return syntax.NumberNode(token.text, None, token.at)
            case "string":
                return syntax.WordNode(self.unquoted(token), True, token.at)
            case "text" | "tree" | "type":
                return syntax.WordNode(token.text, False, token.at)
            case "name" | "angle" if not self.has("("):
                return syntax.WordNode(token.text, False, token.at)
            case "name" if token.text in WRAPPERS:
                return self.wrapped()
            case "name" if token.text in FIELDS:
                return self.record(FIELDS[token.text], token.at)
            case "name" if token.text in READ:
                return READ[token.text](self, token.at)
            case "name":
                raise self.source.error("text.opaque", f"`{token.text}(…)`", token.at)
        raise self.fail("the value of a parameter", token)

    def wrapped(self) -> syntax.NumberNode:
        """The rest of `np.int64(3)`, which is 3."""
        self.expect("(")
        found = self.number()
        self.expect(")")
        return found

    def record(self, fields: tuple[str, ...], at: int) -> syntax.ListNode:
        """The rest of a list whose parts have names, in their order."""
        self.expect("(")
        found: list[syntax.Value] = []
        for name in fields:
            if found:
                self.expect(",")
            self.expect(name)
            self.expect("=")
            found.append(self.value())
        self.expect(")")
        return syntax.ListNode(tuple(found), at)

    def many(self, close: str, at: int) -> syntax.ListNode:
        """The rest of a list, separated by commas; programs need none."""
        items: list[syntax.Value] = []
        while not self.has(close):
            items.append(self.value())
            if self.accept(",") or self.has(close):
                continue
            if not self.has("{") and self.peek().text not in self.let:
                raise self.fail(f"`,` or `{close}`")
        self.expect(close)
        return syntax.ListNode(tuple(items), at, close == "]")
