/** What a button of the pane does: it is given back to the server as it came. */
export type DaybookAction = {
  act: string
  id: string
  label: string
  meaning: string
  key: string
  [given: string]: unknown
}

/** One line of the pane; the opened one has its words and its actions. */
export type DaybookRow = {
  id: string
  title: string
  about: string
  text?: string[]
  actions?: DaybookAction[]
  below?: string[]
}

/** What the server says is drawn; `mark` is another one when something changed. */
export type DaybookDrawn = {
  mark: string
  tabs: { name: string; label: string }[]
  rows: DaybookRow[]
  notes: string[]
  status: string
  text: string
}

/** What the person chose: a tab, an opened row (its id), the words they search, and what a button did. */
export type DaybookView = {
  tab: string
  open: string
  words: string
  said: { text: string; actions: DaybookAction[] } | null
}

declare module 'claude-code' {
  interface PluginState {
    daybook: { view: Shaped<DaybookView>; drawn: Shaped<DaybookDrawn | null> }
  }
}
