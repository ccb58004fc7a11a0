/**
 * What a shell runs to complete a command line: `PROGRAM __complete WORDS…`, the last word being the one that is typed. The
 * answer is that of Cobra's programs, so that kubectl can ask for it, too (kubectl_complete-udn): lines of a value, a tab and
 * a description, then `:0` where the shell may suggest files, or `:4` where it may not.
 */
import type { Suggestion } from './plan.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** ShellCompDirectiveDefault and ShellCompDirectiveNoFileComp, https://github.com/spf13/cobra completions.go. */
const DIRECTIVES = { files: ':0', words: ':4' } as const;

export const formatSuggestions = (kind: keyof typeof DIRECTIVES, suggestions: readonly Suggestion[]): string =>
  [
    ...suggestions.map(({ value, description }) => (description === undefined ? value : `${value}\t${description}`)),
    DIRECTIVES[kind],
    '',
  ].join('\n');

export const completionScript = (shell: Shell, program: string): string => SCRIPTS[shell](program);

const bash = (program: string): string => `# bash completion of ${program}: source <(${program} completion bash)
_${program}() {
  local line
  local -a lines
  COMPREPLY=()
  mapfile -t lines < <("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  ((\${#lines[@]} > 0)) || return
  if [[ \${lines[-1]} == ${DIRECTIVES.files} ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")
    return
  fi
  for line in "\${lines[@]::\${#lines[@]}-1}"; do COMPREPLY+=("\${line%%$'\\t'*}"); done
}
complete -o filenames -o nosort -F _${program} ${program}
`;

const zsh = (program: string): string => `#compdef ${program}
# zsh completion of ${program}: source <(${program} completion zsh), or this as _${program} in a folder of $fpath
_${program}() {
  local line
  local -a lines suggestions
  lines=("\${(@f)$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  ((\${#lines} > 0)) || return 1
  if [[ \${lines[-1]} == ${DIRECTIVES.files} ]]; then
    _files
    return
  fi
  for line in "\${(@)lines[1,-2]}"; do
    if [[ $line == *$'\\t'* ]]; then
      suggestions+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    else
      suggestions+=("\${line//:/\\\\:}")
    fi
  done
  _describe ${program} suggestions
}
if [[ $funcstack[1] == _${program} ]]; then
  _${program}
else
  compdef _${program} ${program}
fi
`;

const fish = (program: string): string => `# fish completion of ${program}: ${program} completion fish | source
function __${program}_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    if test "$lines[-1]" = ${DIRECTIVES.files}
        __fish_complete_path "$current"
        return
    end
    string match -v ':*' -- $lines
end
complete -c ${program} -f -a '(__${program}_complete)'
`;

const SCRIPTS: Readonly<Record<Shell, (program: string) => string>> = { bash, zsh, fish };
