// Daybook inside the client: at each event this module asks the server, and does or draws what it answers.
// The launcher's own hooks do the same where this module is not loaded; DAYBOOK_MODULE tells them that it is.
import type { EngineInterface, Register } from 'claude-code'

import { answerCommands, registerCommands } from './commands'
import { learn, stopLearning } from './learning'
import { answerPane, registerPane, showStatus } from './pane'
import { attempt, isAway, missing, tell } from './server'

const PROMPT_PATIENCE = 300 // ms that a prompt waits for its memories
const MARKED_PATIENCE = 5000 // ms that one with #remember waits for it: Claude is to know that it is stored
const NOTE_PATIENCE = 5000 // ms that noting a turn may take; the end of the session notes what was not
const STARTS = 30 // times that a starting server is asked for the text of the status line

/** The tools that the main conversation is not offered: `KEPT` of mcp_server/core/settings.py, which says why. */
const KEPT = [
  'mcp__plugin_daybook_daybook__hook',
  'mcp__plugin_daybook_daybook__forget_session',
  'mcp__plugin_daybook_daybook__get_session',
  'mcp__plugin_daybook_daybook__get_sessions',
  'mcp__plugin_daybook_daybook__history',
  'mcp__plugin_daybook_daybook__list_memories',
  'mcp__plugin_daybook_daybook__load_conversation',
  'mcp__plugin_daybook_daybook__next_transcript_chunk',
  'mcp__plugin_daybook_daybook__restore_memory',
  'mcp__plugin_daybook_daybook__restore_session',
  'mcp__plugin_daybook_daybook__submit_candidates',
  'mcp__plugin_daybook_daybook__summarize_session',
  'mcp__plugin_daybook_daybook__undo',
]

/** Where the person types: `PERSONS` of mcp_server/doors/server/session.py. */
const PERSONS: string[] = ['bridge', 'composer', 'sdk']
const MARK = /#remember/i

let client = 'unknown'
let isThere = false

/**
 * Tells the launcher's hooks that this module runs, so that nothing is shown or noted twice. Where it cannot tell
 * them, they do the work.
 */
async function announce($: EngineInterface) {
  isThere = !missing.has('server') && (await setModule($)) === true
}

function setModule($: EngineInterface, value?: string) {
  return attempt('prompts', async () => {
    const { deny } = await $.env.set('DAYBOOK_MODULE', value ?? (await $.session.id()))
    if (deny) throw new TypeError(deny)
    return true
  })
}

export const register: Register = on => {
  let isInteractive = false
  on('session.start', async ($, e, next) => {
    isInteractive = e.isInteractive
    await Promise.all([ // the client starts the server, and sends the first prompt, after all of this
      // Its answer is not waited for: the call shows whether this client can call a server at all.
      tell($, 'Begun', {}, 0).then(() => announce($)),
      attempt('version', async () => { client = (await $.session.version()).version }),
    ])
    if (isInteractive) void showStatus($, STARTS)
    const started = await next(e)
    // Last: another plugin that registers the same name keeps it. And where this module takes the place of an older
    // one, after an update and /reload-plugins, the client takes away what was registered before.
    await attempt('commands', () => registerPane($))
    await attempt('commands', () => registerCommands($))
    return started
  })
  answerCommands(on)
  answerPane(on)

  on('prompt.submit', async ($, e, next) => {
    stopLearning()
    await announce($) // a /clear gave the session another id
    if (!isThere) return next(e)
    const root = await attempt('moves', () => $.session.root()) // where /cd took the session
    const module = [client, ...missing].join(' ')
    const given = { prompt: e.text, origin: e.origin.kind, module, root }
    const isMarked = MARK.test(e.text) && PERSONS.includes(e.origin.kind)
    const answer = await tell($, 'UserPromptSubmit', given, isMarked ? MARKED_PATIENCE : PROMPT_PATIENCE)
    const { additionalContext: text } = (answer?.hookSpecificOutput ?? {}) as { additionalContext?: string }
    // No prompt waits for a process but the one that must not be missed, and those while Daybook is set up.
    if (isAway) await setModule($, isMarked ? 'marked' : 'away')
    if (!text) return next(e)
    const entered = await next({ ...e, context: [...(e.context ?? []), text] })
    // Told: only now is it certain that Claude is shown the text; it may come too late, or the prompt may be stopped.
    // The status line follows when the turn is over: a call takes the client some 10 ms, by which it would send the
    // prompt later.
    if (entered.drop === undefined) void tell($, 'Told', {}, NOTE_PATIENCE)
    return entered
  })

  on('turn.complete', ($, e, next) => {
    if (e.agentId || !isThere) return next(e)
    // Esc before an answer begins takes the prompt out of the conversation, with the memories that came with it.
    const event = e.isAborted && !e.usage ? 'TakenBack' : 'Stop'
    void tell($, event, { reply: e.answer }, NOTE_PATIENCE)
    if (isInteractive) void showStatus($)
    if (isInteractive) void learn($)
    return next(e)
  })

  // A pattern, because a client loads nothing of a module that names an event which it does not know. With names,
  // because the client then asks this module about these tools alone, and loses no time with the others.
  on('tool.*', { tool: KEPT }, ($, e, next) => {
    return next.is('tool.offer', e) && !e.agentId ? { isOffered: false } : next(e)
  })
}
