// How the module asks Daybook's server, which decides everything. No function of this file throws or waits for long.
import type { EngineInterface } from 'claude-code'

const SERVER = 'plugin:daybook:daybook'
const TOOL = 'hook'
const LOOK = 2000 // ms for the client to say how the server stands

const ENDED =
  "Daybook's server has ended or did not start, so this may not be done:" +
  ` '/mcp reconnect ${SERVER}' or a new session starts it, 'daybook doctor' in a terminal says more.`
const OFF = "Daybook's server is not part of this session, so nothing was done."
const STOPPED = 'You stopped this before Daybook had answered: it may still do it.'
const SLOW = "Daybook did not answer in time, and may still do it: 'daybook doctor' in a terminal says more."

/** True when the last call reached no server of ours: the launcher's hooks do the work then. */
export let isAway = false

/** What the server answers, as JSON; each event reads its own part of it. */
export type Answer = Record<string, unknown>

/** The parts of this module for which this client lacks something: each is off by itself, and `doctor` names it. */
export const missing = new Set<string>()

/** Returns what *act* of the *part* returns, undefined when it failed. */
export async function attempt<T>(part: string, act: () => T | Promise<T>): Promise<T | undefined> {
  try {
    const result = await act()
    missing.delete(part)
    return result
  } catch (error) {
    if (error instanceof TypeError) missing.add(part) // `undefined` was called; any other error may not come again
    return undefined
  }
}

/**
 * Tells the server of *event* and returns its answer, undefined when none came within *patience* ms (the server
 * starts, has ended, or Python is missing). Nothing of that is shown in the session.
 */
export function tell($: EngineInterface, event: string, given: Answer, patience: number): Promise<Answer | undefined> {
  return attempt('server', async () => {
    isAway = false
    const call = $.session.id().then(session_id => $.mcp.call(SERVER, TOOL, { event, session_id, ...given }))
    call.then(({ isError }) => (isAway = isError === true), () => (isAway = true)) // an error while it is set up
    const result = await within($, patience, call)
    const [block] = result?.content ?? []
    if (result === undefined || result.isError || block?.type !== 'text') return undefined
    return JSON.parse(String(block.text)) as Answer
  })
}

/** Waits up to *patience* ms for a starting server; false when it does not run, undefined when that is not known. */
export async function isRunning($: EngineInterface, patience: number) {
  return (await connect($, patience))?.isConnected
}

function connect($: EngineInterface, patience: number) {
  return attempt('waiting', () => within($, patience, $.mcp.connect('daybook')))
}

/** Returns the sentence that the person reads when the server did not answer; they may have *stopped* waiting. */
export async function away($: EngineInterface, stopped?: AbortSignal) {
  if (stopped?.aborted) return STOPPED
  const server = await connect($, LOOK)
  if (server?.isConnected !== false) return SLOW
  // Turned off in /mcp, or kept out by a policy or an option of the client: the client says by what.
  return server.reason === 'failed' ? ENDED : `${OFF} ${server.message}`
}

/** Asks the person in the client's own dialog; undefined when it was closed, or there is no screen. */
export function askPerson($: EngineInterface, { question, options }: { question: string; options: string[] }) {
  return attempt('asking', () => $.ui.ask(question, { options, header: 'Daybook' }))
}

/**
 * Returns the result of *work*, undefined when it takes more than *patience* ms. Not by `$.clock.sleep`, which the
 * client counts as the hook's own time, of which a hook has ten seconds.
 */
async function within<T>($: EngineInterface, patience: number, work: Promise<T>): Promise<T | undefined> {
  let timer: { cancel: () => void } | undefined
  try {
    const late = new Promise<undefined>(done => (timer = $.clock.after(patience, () => done(undefined))))
    return await Promise.race([work, late])
  } finally {
    timer?.cancel()
  }
}
