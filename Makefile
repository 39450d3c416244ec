# make test            checks the style, the types, the layers, and runs every test (make test k=recall: those named so)
# make fix             formats the code and mends what can be mended by itself
# make demo            shows the main job on real input
# make client          fetches the pinned Claude Code client, which the tests marked `client` drive (needs Node.js)
# make clients         fetches the oldest client that is supported and the newest, and tries the module with each
# make bench-latency   measures how fast it is
# make bench-capture   measures what reading sessions costs
# make bench-retrieval DATA=FOLDER   measures how well recall finds, on the sets in FOLDER (REPORT=FILE says where to write it)
# make bench-echo DATA=FOLDER        measures whether a memory still answers when its question was asked before
# make bench-curation  measures what links, the graph and upkeep cost
# make attack          attacks it for an hour: kills, races, damage, odd input (PARTS="kills soak" only those, QUICK=1 in two minutes)
# make bench-composite CHANGELOGS="FILE…"   measures what age does to the order, on changelogs of public projects

CLIENT_VERSION := 2.1.332
OLDEST_CLIENT := 2.1.321
TYPESCRIPT_VERSION := 5.9.3
PYTHON := .venv/bin/python
DEV := .venv/dev-ready

.PHONY: test fix demo client clients bench-latency bench-capture bench-curation bench-retrieval bench-echo bench-composite attack

test: $(DEV)
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	printf '%s\n' linux darwin win32 | xargs -P 3 -I {} .venv/bin/mypy --platform {} --cache-dir .mypy_cache/{}
	.venv/bin/lint-imports
	$(PYTHON) -m pytest -n auto --dist loadfile --no-loadscope-reorder $(if $(k),-k "$(k)")

fix: $(DEV)
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .

demo:
	bin/daybook demo

bench-latency: $(DEV)
	$(PYTHON) -m benchmarks.latency

bench-capture: $(DEV)
	$(PYTHON) -m benchmarks.capture

bench-curation: $(DEV)
	$(PYTHON) -m benchmarks.curation

bench-retrieval: $(DEV)
	$(if $(DATA),,$(error say where the sets are: make bench-retrieval DATA=FOLDER))
	$(PYTHON) -m benchmarks.retrieval "$(DATA)" --report "$(or $(REPORT),build/retrieval.md)"

bench-echo: $(DEV)
	$(if $(DATA),,$(error say where the sets are: make bench-echo DATA=FOLDER))
	$(PYTHON) -m benchmarks.echo "$(DATA)"

attack: $(DEV)
	$(PYTHON) -m benchmarks.attack $(PARTS) $(if $(QUICK),--quick)

bench-composite: $(DEV)
	$(if $(CHANGELOGS),,$(error name the changelogs: make bench-composite CHANGELOGS="FILE…"))
	$(PYTHON) -m benchmarks.composite $(CHANGELOGS)

# Not named with a dot: it must go when the launcher makes the environment anew.
$(DEV): requirements.txt requirements-team.txt requirements-dev.txt
	DAYBOOK_VENV=.venv bin/daybook setup-environment -r "$(CURDIR)/requirements-dev.txt"
	touch $@

FETCH := npm install --ignore-scripts --no-audit --no-fund typescript@$(TYPESCRIPT_VERSION)

client: .client/$(CLIENT_VERSION)-$(TYPESCRIPT_VERSION)

.client/$(CLIENT_VERSION)-$(TYPESCRIPT_VERSION):
	$(FETCH) --prefix .client @anthropic-ai/claude-code@$(CLIENT_VERSION)
	touch $@

clients: $(DEV) client
	for version in $(OLDEST_CLIENT) latest; do \
		$(FETCH) --prefix .client/of/$$version @anthropic-ai/claude-code@$$version && \
		DAYBOOK_CLIENT=$$(echo $(CURDIR)/.client/of/$$version/node_modules/@anthropic-ai/claude-code-*/claude) \
			$(PYTHON) -m pytest tests/client/test_client_module.py || exit 1; \
	done
