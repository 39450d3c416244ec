// How the module asks Daybook's server, which decides everything; nothing here ever fails or waits for long.
import type { EngineInterface } from 'claude-code'

const SERVER = 'plugin:daybook:daybook'
const TOOL = 'hook'

/** What the person reads where the server should have answered. */
export const AWAY = 'Daybook did not answer: it is being set up, has ended or is slow. `daybook doctor` in a terminal says more.'

/** Whether the client reached no server of ours when it asked last: the launcher's hooks do the work then. */
export let isAway = false

/** What the server answers, as JSON; each event reads its own part of it. */
export type Answer = Record<string, unknown>

/**
 * Tells the server of *event* and returns its answer, undefined when none came within *patience* ms:
 * the server starts, is gone, or Python is missing. The session never hears of that.
 */
export async function tell($: EngineInterface, event: string, given: Answer, patience: number): Promise<Answer | undefined> {
  try {
    const asked = $.session.id().then(session_id => $.mcp.call(SERVER, TOOL, { event, session_id, ...given }))
    asked.then(() => (isAway = false), () => (isAway = true))
    const result = await within($, patience, asked)
    const [block] = result?.content ?? []
    if (result === undefined || result.isError || block?.type !== 'text') return undefined
    return JSON.parse(String(block.text)) as Answer
  } catch {
    return undefined
  }
}

/**
 * Returns what *work* comes to, undefined when it fails or takes more than *patience* ms. `$.clock.sleep` would
 * do, but is counted as the hook's own time, of which it has ten seconds.
 */
export async function within<T>($: EngineInterface, patience: number, work: Promise<T>): Promise<T | undefined> {
  let timer: { cancel: () => void } | undefined
  try {
    const late = new Promise<undefined>(done => (timer = $.clock.after(patience, () => done(undefined))))
    return await Promise.race([work, late])
  } catch {
    return undefined
  } finally {
    timer?.cancel()
  }
}
