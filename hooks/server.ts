// How the module asks Daybook's server, which decides everything; nothing here ever fails or waits for long.
import type { EngineInterface } from 'claude-code'

const SERVER = 'plugin:daybook:daybook'
const TOOL = 'hook'
const LOOK = 2000 // ms for the client to say how the server stands

const ENDED =
  "Daybook's server has ended or did not start, so this may not be done:" +
  ` '/mcp reconnect ${SERVER}' or a new session starts it, 'daybook doctor' in a terminal says more.`
const SLOW = "Daybook did not answer in time, and may still do it: 'daybook doctor' in a terminal says more."

/** Whether the client reached no server of ours when it asked last: the launcher's hooks do the work then. */
export let isAway = false

/** What the server answers, as JSON; each event reads its own part of it. */
export type Answer = Record<string, unknown>

/** What this client has not, of what the parts of this module need: that part alone is off, and `doctor` says so. */
export const missing = new Set<string>()

/** Does what one *part* is there for and returns what comes of it, undefined when it failed. */
export async function attempt<T>(part: string, act: () => T | Promise<T>): Promise<T | undefined> {
  try {
    const done = await act()
    missing.delete(part)
    return done
  } catch (error) {
    if (error instanceof TypeError) missing.add(part) // `undefined` was called; all else may be otherwise next time
    return undefined
  }
}

/**
 * Tells the server of *event* and returns its answer, undefined when none came within *patience* ms:
 * the server starts, is gone, or Python is missing. The session never hears of that.
 */
export function tell($: EngineInterface, event: string, given: Answer, patience: number): Promise<Answer | undefined> {
  return attempt('server', async () => {
    const asked = $.session.id().then(session_id => $.mcp.call(SERVER, TOOL, { event, session_id, ...given }))
    asked.then(({ isError }) => (isAway = isError === true), () => (isAway = true)) // an error while it is set up
    const result = await within($, patience, asked)
    const [block] = result?.content ?? []
    if (result === undefined || result.isError || block?.type !== 'text') return undefined
    return JSON.parse(String(block.text)) as Answer
  })
}

/** Waits up to *patience* ms for a server that starts; false when it does not run, undefined when nobody knows. */
export async function isRunning($: EngineInterface, patience: number) {
  return (await attempt('waiting', () => within($, patience, $.mcp.connect('daybook'))))?.isConnected
}

/** Returns what the person reads where the server should have answered. */
export async function away($: EngineInterface) {
  return (await isRunning($, LOOK)) === false ? ENDED : SLOW
}

/** Asks the person in the client's own dialog; undefined when it was closed, or nobody can be asked. */
export function askPerson($: EngineInterface, { question, options }: { question: string; options: string[] }) {
  return attempt('asking', () => $.ui.ask(question, { options, header: 'Daybook' }))
}

/**
 * Returns what *work* comes to, undefined when it takes more than *patience* ms. `$.clock.sleep` would do, but is
 * counted as the hook's own time, of which it has ten seconds.
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
