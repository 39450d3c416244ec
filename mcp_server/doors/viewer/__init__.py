"""
The viewer: a page in the person's browser that shows what the memory knows, does and costs.

`serve` opens it on this machine alone, for as long as it is looked at; `guard` lets in nobody but the browser
that the person's own command opened. A module for each page answers with what its actions return; `page`
turns that into HTML.
"""
