"""Who sits before a client's dialog, for servers that ask them."""

from collections.abc import Callable

from mcp_types import ElicitRequestFormParams, ElicitResult

Say = Callable[[ElicitRequestFormParams], ElicitResult]


def chosen(answer: str) -> ElicitResult:
    return ElicitResult(action="accept", content={"answer": answer})


class Person:
    """Reads every part on and answers each question with the next of *answers*; `saw` is what was shown."""

    def __init__(self, *answers: str | ElicitResult | Say) -> None:
        self.answers = list(answers)
        self.saw: list[str] = []

    async def __call__(self, context: object, form: ElicitRequestFormParams) -> ElicitResult:
        self.saw.append(form.message)
        if not form.requested_schema["properties"]:
            return ElicitResult(action="accept", content={})
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            return chosen(answer)
        return answer if isinstance(answer, ElicitResult) else answer(form)


class Agreeing(Person):
    """Says yes to everything."""

    async def __call__(self, context: object, form: ElicitRequestFormParams) -> ElicitResult:
        self.answers = ["yes"]
        return await super().__call__(context, form)
