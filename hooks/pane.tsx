// The pane beside the chat, the entry in the status line and the toast: the server says what they show.
import { atom, read, update } from 'claude-code'
import type { EngineInterface, On } from 'claude-code'

import type { DaybookAction, DaybookDrawn, DaybookRow, DaybookView } from '../types'
import { isOurs, registerOurs } from './commands'
import { attempt, away, isRunning, tell } from './server'

const PANE = 'daybook'
const EVERY = 1000 // ms between two looks while the pane is open
const AGAIN = 2000 // ms between two tries while the server starts
const PATIENCE = 20_000 // ms; a person waits for what they pressed
const SHAPE = { shape: 'pane-1' } as const

const view = atom({ plugin: 'daybook', key: 'view' } as const, { tab: 'told', open: '', words: '', said: null }, SHAPE)
const drawn = atom({ plugin: 'daybook', key: 'drawn' } as const, null, SHAPE)

let looking: Promise<void> | undefined // the look that is on its way, one at a time
let watching = false
let saysAway = false // the pane says that the server does not answer
const answering = new Set<string>() // memories whose pressed button the server has not answered

/** Registers the command that opens the pane, unless another plugin or the person has its name. */
export async function registerPane($: EngineInterface) {
  const description = 'Show what Claude was shown, what waits for you, and search your memory'
  await registerOurs($, [{ name: PANE, description, immediate: true }])
}

/**
 * Shows in the status line how much Claude was shown and how much waits, and as a toast what was learned since.
 * While the server does not answer yet, or is being set up, it is asked *again* so many times.
 */
export async function showStatus($: EngineInterface, again = 0) {
  const answer = await tell($, 'status', {}, PATIENCE)
  if (answer?.status === undefined) {
    if (again > 0) await attempt('status', () => $.clock.after(AGAIN, () => void showStatus($, again - 1)))
    return
  }
  await show($, answer.status)
  if (answer.toast) await attempt('toasts', () => $.ui.toast(String(answer.toast), { timeoutMs: 10_000 }))
}

async function show($: EngineInterface, status: unknown) {
  await attempt('status', () => $.ui.status(String(status) || undefined))
}

/** Asks the server what to draw. Waits for a look that is on its way, and then asks with the present view. */
async function look($: EngineInterface): Promise<void> {
  while (looking !== undefined) await looking
  looking = ask($).finally(() => (looking = undefined))
  return looking
}

async function ask($: EngineInterface) {
  const { tab, open, words } = await read($, view)
  const seen = (await read($, drawn))?.mark ?? ''
  const answer = await tell($, 'pane', { given: { tab, open, words, seen } }, PATIENCE)
  if (answer !== undefined && saysAway) await update($, view, now => ({ ...now, said: null }))
  saysAway &&= answer === undefined
  if (answer?.tabs === undefined) return
  await update($, drawn, () => answer as DaybookDrawn)
  await show($, answer.status)
}

/** Looks again every second for as long as the pane is open. */
function watch($: EngineInterface) {
  if (watching) return
  watching = true
  const timer = $.clock.every(EVERY, async () => {
    const panes = await attempt('pane', () => $.ui.panes())
    const isOpen = panes?.some(pane => pane.id === PANE)
    if (isOpen && looking === undefined) await look($)
    if (isOpen) return
    watching = false
    timer.cancel()
  })
}

async function focus($: EngineInterface, key: string) {
  await attempt('focus', () => $.ui.focus({ requestId: PANE, key })) // refused when the person types elsewhere
}

async function choose($: EngineInterface, change: Partial<DaybookView>, key?: string) {
  await update($, view, now => ({ ...now, said: null, ...change }))
  await look($)
  if (key !== undefined) await focus($, key)
}

/** Does what a button asks. A second press would meet what the first one did, so it does nothing until then. */
async function press($: EngineInterface, action: DaybookAction) {
  if (answering.has(action.id)) return
  answering.add(action.id)
  await act($, action).finally(() => answering.delete(action.id))
}

async function act($: EngineInterface, action: DaybookAction) {
  const answer = await tell($, 'act', { given: action }, PATIENCE)
  if (answer === undefined) return void (await sayAway($))
  saysAway = false // else an earlier look takes this outcome for the sentence of a missing server, and clears it
  const said = { text: String(answer.text ?? ''), actions: (answer.actions ?? []) as DaybookAction[] }
  const next = said.actions[0] ? keyOf(said.actions[0]) : `tab ${(await read($, view)).tab}`
  await update($, view, now => ({ ...now, said }))
  await focus($, next) // before the pressed button goes, else the prompt gets the keys
  await look($)
}

async function sayAway($: EngineInterface) {
  const text = await away($)
  saysAway = true
  await update($, view, now => ({ ...now, said: { text, actions: [] } }))
  return text
}

const keyOf = (action: DaybookAction) => `${action.act} ${action.id} ${action.key}`

export function answerPane(on: On) {
  on('command.run', { command: 'daybook' }, async ($, e, next) => {
    if (!(await isOurs($, PANE))) return next(e)
    const size = { rows: 20, columns: 60 }
    const pane = { id: PANE, title: 'Daybook', focus: true, closeOnEscape: true, ...size } as const
    await update($, view, was => ({ ...was, said: null }))
    const opened = await attempt('pane', () => $.ui.open(pane))
    const isUp = await isRunning($, PATIENCE) // a command typed while the server starts waits for it
    await look($)
    const now = await read($, drawn)
    const text = now === null || isUp === false ? await sayAway($) : now.text
    return opened?.isPlaced ? {} : { text, isTextDisplayOnly: true }
  })

  on('ui.render', { component: 'Pane', requestId: PANE }, async ($, e) => {
    const { Box, Button, Input, Text } = $.ui.resolve(e)
    const [now, chosen] = [await read($, drawn), await read($, view)]
    watch($)
    if (now === null) return <Text dimColor>{chosen.said?.text ?? 'One moment …'}</Text>

    const buttons = (actions: DaybookAction[]) =>
      actions.map(action => (
        <Box columnGap={1}>
          <Button
            key={keyOf(action)}
            label={action.label}
            hotkey={action.key}
            onPress={() => void press($, action)}
          />
          <Text dimColor>{action.meaning}</Text>
        </Box>
      ))
    const row = (entry: DaybookRow, number: number) => (
      <Box flexDirection="column">
        <Button
          key={entry.id}
          plain
          autoFocus={number === 0 || undefined}
          onPress={() => void choose($, { open: chosen.open === entry.id ? '' : entry.id })}
        >
          {chosen.open === entry.id ? '▾ ' : '▸ '}
          {entry.title} <Text dimColor>{entry.about}</Text>
        </Button>
        <Box flexDirection="column" paddingLeft={2}>
          {(entry.text ?? []).map(line => (
            <Text>{line}</Text>
          ))}
          {buttons(entry.actions ?? [])}
          {(entry.below ?? []).map(line => (
            <Text dimColor>{line}</Text>
          ))}
        </Box>
      </Box>
    )
    return (
      <Box flexDirection="column" rowGap={1}>
        <Box flexWrap="wrap" columnGap={2}>
          {now.tabs.map(({ name, label }, number) => (
            <Button
              key={`tab ${name}`}
              plain
              hotkey={String(number + 1)}
              dimColor={name !== chosen.tab}
              label={label}
              onPress={() => void choose($, { tab: name, open: '' }, name === 'search' ? 'words' : undefined)}
            />
          ))}
        </Box>
        {chosen.tab === 'search' && (
          <Input
            key="words"
            placeholder="words or a question"
            submitLabel="search"
            value={chosen.words}
            onInput={words => void choose($, { words })}
            onSubmit={words => void choose($, { words })}
          />
        )}
        {chosen.said && (
          <Box flexDirection="column">
            <Text color="success">{chosen.said.text}</Text>
            {buttons(chosen.said.actions)}
          </Box>
        )}
        <Box flexDirection="column">
          {now.rows.map(row)}
          {now.notes.map(note => (
            <Text dimColor>{note}</Text>
          ))}
        </Box>
      </Box>
    )
  })
}
