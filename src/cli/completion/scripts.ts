/** Completion scripts for bash, zsh and fish. They ask `cadre __complete` what can follow. */

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** The first line of the output tells whether files can follow. Also works with bash 3.2, which macOS has. */
const BASH = `# cadre completion for bash: source <(cadre autocomplete bash)
_cadre() {
  local line kind='' IFS=$'\\n'
  COMPREPLY=()
  while read -r line; do
    if [[ -z "$kind" ]]; then kind="$line"; else COMPREPLY+=("\${line%%$'\\t'*}"); fi
  done < <(cadre __complete bash "$COMP_WORDBREAKS" "\${COMP_LINE:0:COMP_POINT}" </dev/null 2>/dev/null)
  if [[ "$kind" == words ]]; then compopt +o default 2>/dev/null; fi
}
complete -o default -F _cadre cadre`

const ZSH = `#compdef cadre
# cadre completion for zsh: source <(cadre autocomplete zsh)
_cadre() {
  local line kind
  local -a lines values shown
  lines=("\${(@f)$(cadre __complete zsh "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" </dev/null 2>/dev/null)}")
  kind="$lines[1]"
  [[ "$PREFIX" == --*=* ]] && compset -P '--[^=]#='
  for line in "\${(@)lines[2,-1]}"; do
    values+=("\${line%%$'\\t'*}")
    shown+=("\${line/$'\\t'/  -- }")
  done
  (( $#values )) && compadd -l -d shown -a values
  [[ "$kind" == files ]] && _files
}
if [[ "$funcstack[1]" == "_cadre" ]]; then _cadre "$@"; else compdef _cadre cadre; fi`

const FISH = `# cadre completion for fish: cadre autocomplete fish | source
function __cadre_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l lines (cadre __complete fish $words[2..-1] "$current" </dev/null 2>/dev/null)
  test "$lines[1]" = files; and __fish_complete_path "$current"
  if test (count $lines) -gt 1
    printf '%s\\n' $lines[2..-1]
  end
end
complete -c cadre -e
complete -c cadre -f -a '(__cadre_complete)'`

const SCRIPTS: Record<Shell, string> = { bash: BASH, zsh: ZSH, fish: FISH }

export const getCompletionScript = (shell: Shell): string => SCRIPTS[shell]
