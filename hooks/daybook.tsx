// Daybook inside the client: an event comes, the server is asked, what it says is done or drawn.
// The launcher's own hooks do the same where this module is not loaded; DAYBOOK_MODULE tells them that it is.
import type { EngineInterface, Register } from 'claude-code'

import { answerCommands, registerCommands } from './commands'
import { learn, stopLearning } from './learning'
import { answerPane, registerPane, showStatus } from './pane'
import { attempt, isAway, missing, tell } from './server'

const PROMPT_PATIENCE = 300 // ms that a prompt waits for what it calls for
const OFFER_PATIENCE = 2000 // ms that a session's first request waits to hear which tools Claude needs
const NOTE_PATIENCE = 5000 // ms until a turn that nobody could note is left to the end of the session
const STARTS = 30 // times that a server which starts is asked for what the status line says
const OURS = 'mcp__plugin_daybook_daybook__'

let client = 'unknown'
let isThere = false
let kept: Promise<ReadonlySet<string>> | undefined
let isKeptKnown = false

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

/** The tools that the main conversation is not offered; its own alone where the server does not say. */
async function keptFromClaude($: EngineInterface): Promise<ReadonlySet<string>> {
  const told = await tell($, 'Offered', {}, OFFER_PATIENCE)
  isKeptKnown = Array.isArray(told?.kept)
  if (isAway) kept = undefined // while it is set up, whoever asks is answered at once: the next tool asks again
  return new Set(Array.isArray(told?.kept) ? told.kept.map(name => OURS + name) : [`${OURS}hook`])
}

export const register: Register = on => {
  let isInteractive = false
  on('session.start', async ($, e, next) => {
    isInteractive = e.isInteractive
    await tell($, 'Offered', {}, 0) // nobody waits for it: it shows whether this client can ask a server at all
    await sayThatItIsThere($)
    await attempt('commands', () => registerPane($))
    await attempt('version', async () => { client = (await $.session.version()).version })
    if (isInteractive) void showStatus($, STARTS)
    const started = await next(e)
    await attempt('commands', () => registerCommands($)) // last: a name that another plugin registers is theirs
    return started
  })
  answerCommands(on)
  answerPane(on)

  on('prompt.submit', async ($, e, next) => {
    stopLearning()
    if (!isKeptKnown) kept = undefined // of a server that did not know yet, it is asked again
    await sayThatItIsThere($) // a /clear made another session of this one
    if (!isThere) return next(e)
    const module = [client, ...missing].join(' ')
    const given = { prompt: e.text, origin: e.origin.kind, module }
    const told = await tell($, 'UserPromptSubmit', given, PROMPT_PATIENCE)
    if (isInteractive) void showStatus($)
    const { additionalContext: text } = (told?.hookSpecificOutput ?? {}) as { additionalContext?: string }
    if (isAway) await setModule($, 'away') // while it is set up, hooks find by words alone
    if (!text) return next(e)
    void tell($, 'Told', {}, NOTE_PATIENCE) // what comes too late was told to nobody
    return next({ ...e, context: [...(e.context ?? []), text] })
  })

  on('turn.complete', ($, e, next) => {
    if (e.agentId || !isThere) return next(e)
    void tell($, 'Stop', { reply: e.answer }, NOTE_PATIENCE)
    if (isInteractive) void showStatus($)
    if (isInteractive) void learn($)
    return next(e)
  })

  // By a pattern: the name of an event that a client does not know keeps it from loading anything of this.
  on('tool.*', { tool: /^mcp__plugin_daybook_daybook__/ }, async ($, e, next) => {
    if (!next.is('tool.offer', e) || e.agentId) return next(e)
    return (await (kept ??= keptFromClaude($))).has(e.tool) ? { isOffered: false } : next(e)
  })
}
