@echo off
rem daybook on Windows: names a Python, which does the rest (daybook.py). Claude Code finds this file for the
rem bin/daybook of .mcp.json by the endings in PATHEXT; hooks start only an .exe, which "serve" puts beside it.
setlocal
set NoDefaultCurrentDirectoryInExePath=1
set "PYTHON=python"
if exist "%LOCALAPPDATA%\Programs\Python\Launcher\py.exe" set "PYTHON=%LOCALAPPDATA%\Programs\Python\Launcher\py.exe"
if exist "%SystemRoot%\py.exe" set "PYTHON=%SystemRoot%\py.exe"
if not "%DAYBOOK_PYTHON%"=="" set "PYTHON=%DAYBOOK_PYTHON%"
"%PYTHON%" -I "%~dp0daybook.py" %*
