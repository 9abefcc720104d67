# completion of calcfs for bash: source <(calcfs completion bash)
_calcfs() {
    local cur prev words cword
    if declare -F _get_comp_words_by_ref >/dev/null; then
        _get_comp_words_by_ref -n =: cur prev words cword
    else
        words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]}
    fi
    COMPREPLY=()
    local line kind=words typed
    local -a asked=("${words[@]:1:cword}")
    asked[cword-1]=$(_calcfs_plain "$cur")
    while IFS= read -r line; do
        case $line in
            :*) kind=${line#:} ;;
            *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("${words[0]/#\~/$HOME}" __complete -- "${asked[@]}" 2>/dev/null)
    typed=$cur
    [[ $typed == --*=* ]] && typed=${typed#*=}
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
        \'*) plain=${plain#\'} ;;
        \"*) plain=${plain#\"} ;;
        *) plain=${plain//\\\\/} ;;
    esac
    printf '%s' "${plain/#\~\//$HOME/}"
}
complete -F _calcfs calcfs
