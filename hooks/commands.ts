// The words that people type without a prefix: the server answers, the person is asked where it asks.
import type { CommandRunInput, CommandRunResult, CommandSpec, EngineInterface, On } from 'claude-code'

import { type Answer, askPerson, away, isRunning, tell } from './server'

const PATIENCE = 30_000 // ms for a server that starts, and for its answer: the person sees that it runs
const PLUGIN = 'daybook'

const COMMANDS = [
  { name: 'remember', description: 'Store one thing for later sessions', argumentHint: 'title | content [tags: a, b]' },
  { name: 'recall', description: 'Search what earlier sessions learned', argumentHint: 'question or words [type: T]' },
  { name: 'save-session', description: 'Save where this session stands', argumentHint: '[title]' },
  { name: 'restore-session', description: 'Bring back a saved session', argumentHint: '[id or words]' },
  { name: 'forget', description: 'Forget a memory after asking', argumentHint: 'id or words' },
] as const

export async function registerCommands($: EngineInterface) {
  await registerOurs($, COMMANDS)
}

/** Registers *commands*; a name that the person or another plugin has already stays theirs. */
export async function registerOurs($: EngineInterface, commands: readonly CommandSpec[]) {
  const listed = await $.command.list()
  const taken = (name: string) => listed.some(other => other.name === name && other.plugin !== PLUGIN)
  const free = commands.filter(({ name }) => !taken(name))
  await Promise.all(free.map(command => $.command.register(command).catch(() => undefined)))
}

/** Tells whether the command is ours still: another plugin may have registered its name later. */
export async function isOurs($: EngineInterface, name: string) {
  const holders = (await $.command.list()).filter(command => command.name === name)
  return holders.length > 0 && holders.every(command => command.plugin === PLUGIN)
}

/**
 * Tells the server of *event*, and asks the person as long as it answers with a question: null stands for no
 * answer (the dialog was closed, or nobody can be asked). Returns its last answer, undefined when it is away.
 */
export async function tellAndAsk($: EngineInterface, event: string, given: Answer): Promise<Answer | undefined> {
  const answers: Record<string, string | null> = {}
  for (let state: unknown; ; ) {
    const told = await tell($, event, { given: { ...given, answers, state } }, PATIENCE)
    const ask = told?.ask as { question: string; options: string[]; state: unknown } | undefined
    if (!ask) return told
    answers[ask.question] = (await askPerson($, ask)) ?? null
    state = ask.state
  }
}

export function answerCommands(on: On) {
  for (const { name } of COMMANDS) {
    on('command.run', { command: name }, async ($, e: CommandRunInput, next): Promise<CommandRunResult> => {
      if (!(await isOurs($, name))) return next(e)
      await isRunning($, PATIENCE) // typed while the server starts, it waits for that
      const told = await tellAndAsk($, 'command', { name, words: e.args, origin: e.origin.kind })
      return { text: String(told?.text ?? (await away($))), context: told?.context as string[] | undefined, isTextDisplayOnly: true }
    })
  }
}
