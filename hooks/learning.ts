// Learning between turns on the person's own plan: the server hands out a piece and its question, the client's
// small model is asked, the server checks and stores. One call at a time, and none while the person waits.
import type { EngineInterface, ModelCompleteRequest } from 'claude-code'

import { tell } from './server'

const PATIENCE = 60_000 // ms; nobody waits for it

let stopping = new AbortController()

/** Ends the call that is under way: the person wrote a prompt. */
export function stopLearning() {
  stopping.abort()
}

/** Does what the server says until it says nothing, or the person writes a prompt. */
export async function learn($: EngineInterface) {
  stopLearning()
  const { signal } = (stopping = new AbortController())
  let given = {}
  while (!signal.aborted) {
    const next = await tell($, 'learn', { given }, PATIENCE)
    given = {}
    if (next?.ask) {
      const { question, options } = next.ask as { question: string; options: string[] }
      given = { answer: await $.ui.ask(question, { options, header: 'Daybook' }).catch(() => '') }
    } else if (next?.call) {
      const said = await ask($, next.request as ModelCompleteRequest, signal)
      await tell($, 'learned', { given: { call: next.call, ...said } }, PATIENCE)
    } else return
  }
}

/** Returns what the model said; the reason `stopped` when the person went on, `refused` when nobody was asked. */
async function ask($: EngineInterface, request: ModelCompleteRequest, signal: AbortSignal) {
  try {
    const said = await $.model.complete(request, { signal })
    return signal.aborted && !said.isAnswered ? { reason: 'stopped' } : said
  } catch {
    return { reason: 'refused' }
  }
}
