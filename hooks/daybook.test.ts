// The module beside a server that this test plays: what it asks, and what it does with the answer.
import { expect, mock, test } from 'claude-code/testing'
import type { On } from 'claude-code'

const PATIENT = { timeoutMs: 240_000 } // on a slow machine, too
const OURS = 'mcp__plugin_daybook_daybook__'
const PROMPT = { text: 'how are amounts rounded?', wait: false, origin: { kind: 'composer' } } as const

const CALLED_FOR = { hookSpecificOutput: { additionalContext: 'half to even' } }

/**
 * Plays the server with what it *answers* to each event, as soon as it *may*; returns the events that it was asked,
 * what the module said of itself to the launcher's hooks, and a promise that the server hears what a prompt told,
 * which no prompt waits for.
 */
function serve(on: On, answers: Record<string, unknown>, may = async () => {}) {
  const asked: string[] = []
  const modules: unknown[] = []
  let hearTold = () => {}
  const isTold = new Promise<void>(done => (hearTold = done))
  on('env.set', (_, e) => { modules.push(e.value); return { value: {} } })
  on('session.id', () => ({ value: 's1' }))
  on('mcp.call', async (_, e) => {
    const event = String(e.args?.event)
    asked.push(event)
    await may()
    if (event === 'Told') hearTold()
    if (!(event in answers)) return { deny: 'not connected' }
    return { value: { content: [{ type: 'text', text: JSON.stringify(answers[event]) }], isError: false } }
  })
  return { asked, modules, isTold }
}

test('what a prompt calls for comes with it, and the server hears that it was told', PATIENT, async ($, on) => {
  mock.clock(on)
  const { asked, isTold } = serve(on, { UserPromptSubmit: CALLED_FOR, Told: {} })
  let context: readonly string[] = []
  on('prompt.submit', (_, e) => { context = e.context ?? []; return { text: e.text } })

  await $.prompt.submit(PROMPT)
  await isTold

  expect(context).toEqual(['half to even'])
  expect(asked).toEqual(['UserPromptSubmit', 'Told'])
})

test('what came with a prompt that was stopped counts as told to nobody', PATIENT, async ($, on) => {
  mock.clock(on)
  const { asked, isTold } = serve(on, { UserPromptSubmit: CALLED_FOR, Told: {} })
  let isStopped = true
  on('prompt.submit', (_, e) => isStopped ? { drop: 'not this one' } : { text: e.text })

  await $.prompt.submit(PROMPT)
  isStopped = false
  await $.prompt.submit(PROMPT)
  await isTold

  expect(asked).toEqual(['UserPromptSubmit', 'UserPromptSubmit', 'Told'])
})

test('a server that is gone changes no prompt, and the hook stores what the person marks', PATIENT, async ($, on) => {
  mock.clock(on)
  const { asked, modules } = serve(on, {})
  let context: readonly string[] = []
  on('prompt.submit', (_, e) => { context = e.context ?? []; return { text: e.text } })

  await $.prompt.submit(PROMPT)

  expect(context).toEqual([])
  expect(asked).toEqual(['UserPromptSubmit'])
  expect(modules).toEqual(['s1', 'away'])

  const marked = { ...PROMPT, text: '#Remember that amounts are rounded half to even.' }
  await $.prompt.submit(marked)
  await $.prompt.submit({ ...marked, origin: { kind: 'task-notification' } as never })

  expect(modules.slice(2)).toEqual(['s1', 'marked', 's1', 'away'])
})

test('of a slow server only a prompt that marks something waits for what it says', PATIENT, async ($, on) => {
  const clock = mock.clock(on)
  serve(on, { UserPromptSubmit: CALLED_FOR, Told: {} }, () => clock.sleep(2000))
  let context: readonly string[] = []
  on('prompt.submit', (_, e) => { context = e.context ?? []; return { text: e.text } })
  const submit = async (prompt: typeof PROMPT | { text: string }) => {
    const entered = $.prompt.submit({ ...PROMPT, ...prompt })
    await clock.advance(2000)
    await entered
    return context
  }

  expect(await submit(PROMPT)).toEqual([])
  expect(await submit({ text: '#remember that amounts are rounded half to even.' })).toEqual(['half to even'])
})

test('what is typed without a server is answered with what keeps it away', PATIENT, async ($, on) => {
  mock.clock(on)
  serve(on, {})
  let reason = 'failed'
  on('mcp.connect', () => ({ value: { isConnected: false, reason: reason as never, message: 'It is turned off.' } }))
  on('command.list', () => ({ value: [{ name: 'recall', description: '', source: 'plugin', plugin: 'daybook' }] }))
  const presentation = { isFullscreen: true, columns: 120 }
  const typed = { command: 'recall', args: 'amounts', origin: { kind: 'composer' }, presentation } as const
  const answer = async () => (await $.command.run(typed)).text

  expect(await answer()).toMatch(/^Daybook's server has ended or did not start/)
  reason = 'disabled'
  expect(await answer()).toMatch(/so nothing was done\. It is turned off\.$/)
})

test('the tools that Claude does not need are offered to agents alone', PATIENT, async ($, on) => {
  if (typeof $.tool.offer !== 'function') return // 2.1.321 asks nobody which tools are offered
  mock.clock(on)
  serve(on, {})
  on('tool.offer', () => ({ isOffered: true }))
  const provider = { kind: 'mcp', server: 'plugin:daybook:daybook' } as never

  const asked = { provider, for: 'list' } as const // the client says since 2.1.332 what it asks for
  const offered = async (tool: string, agent = {}) => (await $.tool.offer({ tool, ...asked, ...agent })).isOffered

  expect(await offered(`${OURS}undo`)).toBe(false)
  expect(await offered(`${OURS}recall`)).toBe(true)
  expect(await offered('Bash')).toBe(true)
  expect(await offered(`${OURS}undo`, { agentId: 'a1', subagentType: 'x' })).toBe(true)
})

test('a name that somebody else has stays theirs, one that an older copy of the module left is taken', PATIENT, async ($, on) => {
  mock.clock(on)
  serve(on, {})
  const others = [
    { name: 'recall', description: 'left by the module before an update', source: 'plugin' },
    { name: 'remember', description: 'ours', source: 'plugin', plugin: 'daybook' },
    { name: 'daybook', description: "the person's", source: 'user' },
    { name: 'forget', description: "another plugin's", source: 'plugin', plugin: 'other' },
  ] as const
  const registered: string[] = []
  on('command.list', () => ({ value: [...others] }))
  on('command.register', (_, e) => { registered.push(e.name); return { value: { command: e.name } } })
  on('session.start', (_, e) => ({ cwd: e.cwd }))
  on('session.version', () => ({ value: { version: '2.1.332' } as never }))

  await $.session.start({ cwd: '/', surface: null, isInteractive: false })

  expect(registered).toEqual(['remember', 'recall', 'save-session', 'restore-session'])
})
