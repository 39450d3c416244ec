"""A worker that is killed at any moment keeps and learns everything once, and pays for nothing twice."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp_server.actions.doctor import diagnose
from mcp_server.actions.list import list_memories
from mcp_server.actions.read import read
from mcp_server.actions.sync import rebuild
from mcp_server.adapters import files
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Kind
from mcp_server.core.query import Filter
from tests.scripted_model import Answer, ScriptedModel, reply

KILLS = int(os.environ.get("WORKER_KILLS", "60"))  # 500 by hand
MARK = re.compile(r"Mark \d+: [a-z ]+\.")
