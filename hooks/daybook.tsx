// Daybook inside the client: an event comes, the server is asked, what it says is done or drawn.
// The launcher's own hooks do the same where this module is not loaded; DAYBOOK_MODULE tells them that it is.
import type { EngineInterface, Register } from 'claude-code'

import { answerCommands, registerCommands } from './commands'
import { learn, stopLearning } from './learning'
import { answerPane, registerPane, showStatus } from './pane'
import { attempt, isAway, missing, tell } from './server'

const PROMPT_PATIENCE = 300 // ms that a prompt waits for what it calls for
const NOTE_PATIENCE = 5000 // ms until a turn that nobody could note is left to the end of the session
const STARTS = 30 // times that a server which starts is asked for what the status line says

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

let client = 'unknown'
let isThere = false

/** Tells the launcher's hooks, for what both did would be told and noted twice; where that may not be, they do it. */
async function sayThatItIsThere($: EngineInterface) {
  isThere = !missing.has('server') && (await setModule($)) === true
}

function setModule($: EngineInterface, said?: string) {
  return attempt('prompts', async () => {
    const { deny } = await $.env.set('DAYBOOK_MODULE', said ?? (await $.session.id()))
    if (deny) throw new TypeError(deny)
    return true
  })
}

export const register: Register = on => {
  let isInteractive = false
  on('session.start', async ($, e, next) => {
    isInteractive = e.isInteractive
    await Promise.all([ // the server is started, and the first prompt sent, when all of this is done
      // Nobody waits for the answer: it shows whether this client can ask a server at all.
      tell($, 'Begun', {}, 0).then(() => sayThatItIsThere($)),
      attempt('commands', () => registerPane($)),
      attempt('version', async () => { client = (await $.session.version()).version }),
    ])
    if (isInteractive) void showStatus($, STARTS)
    const started = await next(e)
    await attempt('commands', () => registerCommands($)) // last: a name that another plugin registers is theirs
    return started
  })
  answerCommands(on)
  answerPane(on)

  on('prompt.submit', async ($, e, next) => {
    stopLearning()
    await sayThatItIsThere($) // a /clear made another session of this one
    if (!isThere) return next(e)
    const module = [client, ...missing].join(' ')
    const given = { prompt: e.text, origin: e.origin.kind, module }
    const told = await tell($, 'UserPromptSubmit', given, PROMPT_PATIENCE)
    const { additionalContext: text } = (told?.hookSpecificOutput ?? {}) as { additionalContext?: string }
    if (isAway) await setModule($, 'away') // while it is set up, hooks find by words alone
    if (!text) return next(e)
    const entered = await next({ ...e, context: [...(e.context ?? []), text] })
    // What comes too late, or with a prompt that was stopped, was told to nobody. The status line says it when the
    // turn is over: a call takes the client some 10 ms, in which it would not send the prompt to the model.
    if (entered.drop === undefined) void tell($, 'Told', {}, NOTE_PATIENCE)
    return entered
  })

  on('turn.complete', ($, e, next) => {
    if (e.agentId || !isThere) return next(e)
    void tell($, 'Stop', { reply: e.answer }, NOTE_PATIENCE)
    if (isInteractive) void showStatus($)
    if (isInteractive) void learn($)
    return next(e)
  })

  // By a pattern: the name of an event that a client does not know keeps it from loading anything of this. By
  // names: the client asks this module about these tools alone, and needs no time for all the others.
  on('tool.*', { tool: KEPT }, ($, e, next) => {
    return next.is('tool.offer', e) && !e.agentId ? { isOffered: false } : next(e)
  })
}
