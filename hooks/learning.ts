// Learning between turns on the person's own plan: the server gives a piece and its question, the client's small
// model answers, the server checks the answer and stores. One call at a time, and none while the person waits.
import type { EngineInterface, ModelCompleteRequest } from 'claude-code'

import { askPerson, attempt, missing, tell } from './server'

const PATIENCE = 60_000 // ms; the person does not wait for it
const UNHEARD = "Daybook did not hear your answer and asks again. If its server has ended, '/mcp' starts it." // three lines

let stopping = new AbortController()

/** Ends the call that is under way: the person wrote a prompt. */
export function stopLearning() {
  stopping.abort()
}

/** Asks the person or the model what the server wants, until it wants nothing or the person writes a prompt. */
export async function learn($: EngineInterface) {
  stopLearning()
  if (missing.has('learning')) return
  const { signal } = (stopping = new AbortController())
  let given: { answer?: string } = {}
  while (!signal.aborted) {
    const next = await tell($, 'learn', { given }, PATIENCE)
    if (next === undefined && given.answer) await attempt('toasts', () => $.ui.toast(UNHEARD, { timeoutMs: 20_000 }))
    given = {}
    if (next?.toast) await attempt('toasts', () => $.ui.toast(String(next.toast), { timeoutMs: 20_000 }))
    if (next?.ask) {
      const answer = await askPerson($, next.ask as { question: string; options: string[] })
      if (missing.has('asking')) return
      given = { answer: answer ?? '' }
    } else if (next?.call) {
      const result = await ask($, next.request as ModelCompleteRequest, signal)
      await tell($, 'learned', { given: { call: next.call, ...result } }, PATIENCE)
      if (missing.has('learning')) return
    } else return
  }
}

/** Returns the model's answer, or the reason without one: `stopped` by a prompt, `refused` by the client. */
async function ask($: EngineInterface, request: ModelCompleteRequest, signal: AbortSignal) {
  const answer = await attempt('learning', () => $.model.complete(request, { signal }))
  if (answer === undefined) return { reason: missing.has('learning') ? 'stopped' : 'refused' }
  return signal.aborted && !answer.isAnswered ? { reason: 'stopped' } : answer
}
