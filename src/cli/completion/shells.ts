// The line that each shell runs at TAB: it asks calcfs, so that the words are those of the installed version.

/** The hidden command that a shell asks; the words of the line follow it, the last one as far as it is typed. */
export const askedByShells = '__complete'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/**
 * The answer is a line for each candidate, `value TAB description`, and at the end `:files`, `:directories`, `:names` or `:words`: whether
 * the shell adds files of its own, and whether a candidate may hold blanks. Behind `--flag=` a candidate is the value alone.
 */
export const scripts: Readonly<Record<Shell, string>> = {
  bash: `# completion of calcfs for bash: source <(calcfs completion bash)
_calcfs() {
    local cur prev words cword
    if declare -F _get_comp_words_by_ref >/dev/null; then
        _get_comp_words_by_ref -n =: cur prev words cword
    else
        words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD cur=\${COMP_WORDS[COMP_CWORD]}
    fi
    COMPREPLY=()
    local line kind=words typed
    local -a asked=("\${words[@]:1:cword}")
    asked[cword-1]=$(_calcfs_plain "$cur")
    while IFS= read -r line; do
        case $line in
            :*) kind=\${line#:} ;;
            *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
        esac
    done < <("\${words[0]/#\\~/$HOME}" ${askedByShells} -- "\${asked[@]}" 2>/dev/null)
    typed=$cur
    [[ $typed == --*=* ]] && typed=\${typed#*=}
    case $kind in
        files | directories)
            compopt -o filenames 2>/dev/null
            local option=-f
            [[ $kind == directories ]] && option=-d
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen $option -- "$(_calcfs_plain "$typed")")
            ;;
        names) compopt -o filenames 2>/dev/null ;;
    esac
    if declare -F __ltrim_colon_completions >/dev/null; then __ltrim_colon_completions "$typed"; fi
}
# What is typed, without its quotes and backslashes, and with ~/ as the home directory.
_calcfs_plain() {
    local plain=$1
    case $plain in
        \\'*) plain=\${plain#\\'} ;;
        \\"*) plain=\${plain#\\"} ;;
        *) plain=\${plain//\\\\\\\\/} ;;
    esac
    printf '%s' "\${plain/#\\~\\//$HOME/}"
}
complete -F _calcfs calcfs
`,
  zsh: `#compdef calcfs
# completion of calcfs for zsh: calcfs completion zsh > "\${fpath[1]}/_calcfs", or source <(calcfs completion zsh)
_calcfs() {
    local line kind=words
    local -a asked values described
    asked=("\${(@Q)words[2,CURRENT]}")
    asked[-1]=\${(Q)PREFIX}
    for line in "\${(@f)$(_call_program calcfs \${(q)words[1]} ${askedByShells} -- "\${(@q)asked}" 2>/dev/null)}"; do
        case $line in
            (:*) kind=\${line#:} ;;
            (?*) values+=("\${line%%$'\\t'*}") described+=("\${line%%$'\\t'*}  -- \${line#*$'\\t'}") ;;
        esac
    done
    compset -P '--[a-z-]##='
    (( $#values )) && compadd -l -d described -a values
    case $kind in
        (files) _files ;;
        (directories) _files -/ ;;
    esac
    return 0
}
if [[ \${funcstack[1]} == _calcfs ]]; then
    _calcfs "$@"
else
    compdef _calcfs calcfs
fi
`,
  fish: `# completion of calcfs for fish: calcfs completion fish > ~/.config/fish/completions/calcfs.fish
function __calcfs_complete
    set -l typed (commandline -ct)
    set -l words (commandline -opc)
    set -l kind words
    set -l before ''
    set -l value $typed
    if string match -qr '^--[a-z-]+=' -- $typed
        set before (string replace -r '=.*' '=' -- $typed)
        set value (string replace -r '^[^=]*=' '' -- $typed)
    end
    set -l asked $words[2..-1] (string unescape -- $typed; or echo -- $typed)
    for line in ($words[1] ${askedByShells} -- $asked 2>/dev/null)
        if string match -q ':*' -- $line
            set kind (string sub -s 2 -- $line)
        else
            echo -- $before$line
        end
    end
    switch $kind
        case files
            for path in (__fish_complete_path $value)
                echo -- $before$path
            end
        case directories
            for path in (__fish_complete_directories $value '')
                echo -- $before$path
            end
    end
end
complete -c calcfs -f -a '(__calcfs_complete)'
`,
}
