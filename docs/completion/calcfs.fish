# completion of calcfs for fish: calcfs completion fish > ~/.config/fish/completions/calcfs.fish
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
    for line in ($words[1] __complete -- $asked 2>/dev/null)
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
