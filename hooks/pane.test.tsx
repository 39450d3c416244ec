import type { On } from 'claude-code'
import { expect, mock, test } from 'claude-code/testing'

const PATIENT = { timeoutMs: 240_000 } // on a slow machine, too
const PANE = {
  plugin: 'daybook',
  component: 'Pane',
  requestId: 'daybook',
  props: { title: 'Daybook', isFocused: true, bodyColumns: 40, placement: 'dock', scroll: { offset: 0, bodyRows: 20 }, view: {} },
} as const
const COMMAND = { command: 'daybook', args: '', origin: { kind: 'composer' }, presentation: { isFullscreen: true, columns: 120 } } as const
const ACCEPT = { act: 'settle', id: 'staging-a1b2', label: 'Accept', meaning: 'Claude may be shown it', key: 'a', digest: 'd1' }
const ROW = { id: 'origin staging-a1b2', title: 'Staging', about: 'came with the repository' }
const TABS = [{ name: 'told', label: 'Shown 0' }, { name: 'waits', label: 'Waits 1' }, { name: 'search', label: 'Search' }]

/** What the server is asked, and answers as the real one does, once and as often as it *isReached*. */
function serve(on: On, isReached: (event: string) => Promise<boolean> | boolean = () => true) {
  const asked: { event: string; given: Record<string, unknown> }[] = []
  on('mcp.call', async ($, e) => {
    const { event, given } = e.args as { event: string; given: Record<string, unknown> }
    if (!(await isReached(event))) return { deny: 'not connected' }
    asked.push({ event, given })
    const rows = given.tab === 'waits' ? [{ ...ROW, ...(given.open ? { text: ['Port 5433.'], actions: [ACCEPT] } : {}) }] : []
    const drawn = { mark: String(asked.length), tabs: TABS, rows, notes: [], status: '1 waits', text: 'one waits' }
    const answer = event === 'act' ? { text: 'accepted', actions: [] } : drawn
    return { value: { content: [{ type: 'text', text: JSON.stringify(answer) }], isError: false } }
  })
  on('mcp.connect', () => ({ value: { isConnected: true, server: 'daybook' } }))
  on('session.id', () => ({ value: 's1' }))
  on('command.list', () => ({ value: [{ name: 'daybook', plugin: 'daybook', description: '', source: 'plugin' }] }))
  on('command.register', () => ({ value: { command: 'daybook' } }))
  on('ui.open', () => ({ value: { isPlaced: true } }))
  on('ui.panes', () => ({ value: [] }))
  on('ui.status', () => ({ value: undefined }))
  return asked
}

for (const surface of ['terminal', 'desktop'] as const) {
  test(`on ${surface} the pane is drawn, opened row by row, and a button is the server's to answer`, PATIENT, async ($, on) => {
    mock.clock(on)
    const asked = serve(on)
    await $.command.run(COMMAND)
    const ui = await $.ui.mount({ ...PANE, surface })

    await ui.press({ key: 'tab waits' })
    await ui.press({ key: ROW.id })
    expect((await ui.find({ type: 'Text', text: /Port 5433/ }))?.text).toBe('Port 5433.')
    await ui.press({ key: 'settle staging-a1b2 a' })
    expect(asked.find(one => one.event === 'act')?.given).toEqual(ACCEPT)
    expect((await ui.find({ type: 'Text', text: /accepted/ }))?.text).toBe('accepted')

    await ui.press({ key: 'tab search' })
    await ui.input({ key: 'words', text: 'stag', kind: 'change' })
    expect(asked.at(-1)?.given.words).toBe('stag')
    await ui.unmount()
  })
}

test('what a button did stays to be read when a look from before the server was back ends after it', PATIENT, async ($, on) => {
  mock.clock(on)
  let isUp = true
  let mayLook = Promise.resolve()
  serve(on, async event => {
    if (event === 'pane') await mayLook
    return isUp
  })
  await $.command.run(COMMAND)
  const ui = await $.ui.mount({ ...PANE, surface: 'terminal' })
  await ui.press({ key: 'tab waits' })
  await ui.press({ key: ROW.id })
  isUp = false
  await ui.press({ key: 'settle staging-a1b2 a' })
  expect((await ui.find({ type: 'Text', text: /did not answer/ }))?.text).toMatch(/^Daybook did not answer in time/)

  isUp = true
  let look = () => {}
  mayLook = new Promise(done => (look = done))
  const opened = $.command.run(COMMAND)
  await ui.press({ key: 'settle staging-a1b2 a' })
  look()
  await opened

  expect((await ui.find({ type: 'Text', text: /accepted/ }))?.text).toBe('accepted')
  await ui.unmount()
})

test('a button that is pressed again before the server answered counts once', PATIENT, async ($, on) => {
  mock.clock(on)
  let answer = () => {}
  const mayAnswer = new Promise<void>(done => (answer = done))
  const asked = serve(on, async event => {
    if (event === 'act') await mayAnswer
    return true
  })
  await $.command.run(COMMAND)
  const ui = await $.ui.mount({ ...PANE, surface: 'terminal' })
  await ui.press({ key: 'tab waits' })
  await ui.press({ key: ROW.id })
  const presses = [ui.press({ key: 'settle staging-a1b2 a' }), ui.press({ key: 'settle staging-a1b2 a' })]
  answer()
  await Promise.all(presses)

  expect((await ui.find({ type: 'Text', text: /accepted/ }))?.text).toBe('accepted')
  expect(asked.filter(one => one.event === 'act').length).toBe(1)
  await ui.press({ key: 'settle staging-a1b2 a' })
  expect(asked.filter(one => one.event === 'act').length).toBe(2)
  await ui.unmount()
})
