// The commands that people type without a prefix: the server answers them, and the person answers its questions.
import type { CommandInfo, CommandRunInput, CommandRunResult, CommandSpec, EngineInterface, On } from 'claude-code'

import { type Answer, askPerson, away, isRunning, tell } from './server'

const PATIENCE = 30_000 // ms for a server that starts, and for its answer: the person sees that it runs
const PLUGIN = 'daybook'

const COMMANDS = [
  { name: 'remember', description: 'Store one thing for later sessions', argumentHint: 'title | content [tags: a, b]' },
  { name: 'recall', description: 'Search what earlier sessions learned', argumentHint: 'question or words [type: T]' },
  { name: 'save-session', description: 'Save where this session stands', argumentHint: '[title]' },
  { name: 'restore-session', description: 'Bring back a saved session', argumentHint: '[id or words]' },
  { name: 'forget', description: 'Forget a memory after asking', argumentHint: 'id or words [forever]' },
] as const

export async function registerCommands($: EngineInterface) {
  await registerOurs($, COMMANDS)
}

/** Registers *commands*; a name that the person or another plugin has already stays theirs. */
export async function registerOurs($: EngineInterface, commands: readonly CommandSpec[]) {
  const listed = await $.command.list()
  const free = commands.filter(({ name }) => listed.every(other => other.name !== name || isFromUs(other)))
  await Promise.all(free.map(command => $.command.register(command).catch(() => undefined)))
}

/** Tells whether the command *name* is still ours: another plugin may have registered it later. */
export async function isOurs($: EngineInterface, name: string) {
  const holders = (await $.command.list()).filter(command => command.name === name)
  return holders.length > 0 && holders.every(isFromUs)
}

/**
 * Tells whether *command* is ours. After an update and /reload-plugins the client may still list, as a plugin's but
 * nobody's, what the module before this one registered.
 */
function isFromUs({ source, plugin = PLUGIN }: CommandInfo) {
  return source === 'plugin' && plugin === PLUGIN
}

/**
 * Tells the server of *event*, and asks the person while the server answers with a question. The server gets null
 * for no answer (the dialog was closed, or nobody can be asked). Returns the last answer of the server, undefined
 * when it does not answer.
 */
export async function tellAndAsk($: EngineInterface, event: string, given: Answer): Promise<Answer | undefined> {
  const answers: Record<string, string | null> = {}
  for (let state: unknown; ; ) {
    const answer = await tell($, event, { given: { ...given, answers, state } }, PATIENCE)
    const ask = answer?.ask as { question: string; options: string[]; state: unknown } | undefined
    if (!ask) return answer
    answers[ask.question] = (await askPerson($, ask)) ?? null
    state = ask.state
  }
}

export function answerCommands(on: On) {
  for (const { name } of COMMANDS) {
    on('command.run', { command: name }, async ($, e: CommandRunInput, next): Promise<CommandRunResult> => {
      if (!(await isOurs($, name))) return next(e)
      await isRunning($, PATIENCE) // a command typed while the server starts waits for it
      const answer = await tellAndAsk($, 'command', { name, words: e.args, origin: e.origin.kind })
      const text = answer?.text ?? (await away($, next.signal))
      return { text: String(text), context: answer?.context as string[] | undefined, isTextDisplayOnly: true }
    })
  }
}
