#compdef calcfs
# completion of calcfs for zsh: calcfs completion zsh > "${fpath[1]}/_calcfs", or source <(calcfs completion zsh)
_calcfs() {
    local line kind=words
    local -a asked values described
    asked=("${(@Q)words[2,CURRENT]}")
    asked[-1]=${(Q)PREFIX}
    for line in "${(@f)$(_call_program calcfs ${(q)words[1]} __complete -- "${(@q)asked}" 2>/dev/null)}"; do
        case $line in
            (:*) kind=${line#:} ;;
            (?*) values+=("${line%%$'\t'*}") described+=("${line%%$'\t'*}  -- ${line#*$'\t'}") ;;
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
if [[ ${funcstack[1]} == _calcfs ]]; then
    _calcfs "$@"
else
    compdef _calcfs calcfs
fi
