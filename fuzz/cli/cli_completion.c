/*
 * cli_completion.c - completion for bash, zsh and fish, made from the tables of commands and options.
 */
#include "fuzz/cli/config.h"
#include "fuzz/cli/options.h"

#include <string.h>

/* ---- what options take that can be listed ---- */

static const char *const subject_words[] = {
#define SUBJECT(id, name, ...) name,
#include "engine/subjects/subject.def"
#undef SUBJECT
    "all", NULL};

static const char *const oracle_words[] = {
#define ORACLE(id, name, distance, theorem, applies, cannot) name,
#include "oracle/check/oracles.def"
#undef ORACLE
    "lemmas:strict", "safety:printed", "all", NULL};

static const char *const feature_words[] = {
#define FEATURE(id, name, group_default, sentence) name,
#include "fuzz/gen/features.def"
#undef FEATURE
    "all", "none", NULL};

static const char *const form_words[] = {"core", "cfg", "predicated", "lockstep",
                                         "ptx",  "crs", "horn",       NULL};
static const char *const schedule_words[] = {
    "sequential", "reverse", "rr",      "uniform", "pct:3", "pos",
    "surw",       "starve:", "unfair:", "tape:",   NULL};
static const char *const keep_words[] = {"race",       "race:",   "oob",  "deadlock",
                                         "divergence", "assert",  "hang", "expect",
                                         "progress:",  "status:", NULL};
static const char *const shell_words[] = {"bash", "zsh", "fish", NULL};

static const struct value_words {
    const char *option;
    bool list; /* several, with commas between them */
    const char *const *words;
} value_words[] = {
    {"subjects", true, subject_words},  {"oracles", true, oracle_words},
    {"features", true, feature_words},  {"subject", false, subject_words},
    {"to", false, form_words},          {"schedule", false, schedule_words},
    {"completion", false, shell_words}, {"keep", false, keep_words},
};

static const struct value_words *words_of(const struct cli_option *option)
{
    for (size_t i = 0; option->argument && i < sizeof value_words / sizeof value_words[0]; i++)
        if (strcmp(value_words[i].option, option->name) == 0)
            return &value_words[i];
    return NULL;
}

static bool takes_file(const struct cli_option *option)
{
    return option->argument &&
           (strstr(option->argument, "FILE") || strcmp(option->argument, "BUILD") == 0);
}

static bool takes_preset(const char *argument)
{
    return argument && strstr(argument, "PRESET") != NULL;
}

static void put_preset_names(FILE *out)
{
    for (size_t i = 0; config_presets[i].name; i++)
        fprintf(out, "%s%s", i ? " " : "", config_presets[i].name);
}

static bool takes_folder(const struct cli_option *option)
{
    return option->argument && strcmp(option->argument, "FOLDER") == 0;
}

static bool command_takes_files(const struct cli_command *command)
{
    return strstr(command->arguments, "FILE") || strstr(command->arguments, "FOLDER");
}

static void put_words(FILE *out, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", words[i]);
}

static void put_command_names(FILE *out)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "%s%s", i ? " " : "", cli_commands[i].name);
}

/* What a command's first argument may be: `list [STATUS] | show ID | ...` gives list and show. */
static void put_first_arguments(FILE *out, enum cli_command_id id)
{
    const char *at = cli_commands[id].arguments;
    if (id == COMMAND_HELP)
        put_command_names(out);
    if (takes_preset(at))
        put_preset_names(out);
    for (bool more = strstr(at, " | ") != NULL; more;) {
        const char *next = strstr(at, " | ");
        fprintf(out, "%.*s", (int)strcspn(at, " "), at);
        more = next != NULL;
        at = more ? next + 3 : at;
        fputs(more ? " " : "", out);
    }
}

/* ---- bash ---- */

static void put_bash_options(FILE *out, enum cli_command_id id, bool valued)
{
    const char *space = "";
    for (size_t i = 0; i < option_count; i++) {
        const struct cli_option *option = &option_table[i];
        if (!option_is_on(option, id) || (valued && !option->argument))
            continue;
        fprintf(out, "%s--%s", space, option->name);
        space = " ";
        if (option->letter)
            fprintf(out, " -%c", option->letter);
    }
}

static void put_bash_values(FILE *out, enum cli_command_id id)
{
    for (size_t i = 0; i < option_count; i++) {
        const struct cli_option *option = &option_table[i];
        const struct value_words *values = words_of(option);
        bool named = takes_file(option) || takes_folder(option);
        if (!option_is_on(option, id) || (!values && !named))
            continue;
        fprintf(out, "            --%s", option->name);
        if (option->letter)
            fprintf(out, " | -%c", option->letter);
        fputs(") ", out);
        if (values) {
            fputs(values->list ? "list=1 words='" : "words='", out);
            put_words(out, values->words);
            fputs("' ;;\n", out);
        } else {
            fputs(takes_file(option) ? "names=-f" : "names=-d", out);
            if (takes_preset(option->argument)) {
                fputs(" words='", out);
                put_preset_names(out);
                fputs("'", out);
            }
            fputs(" ;;\n", out);
        }
    }
}

static const char bash_head[] =
    "# bash completion for simtfuzz, made by: simtfuzz help --completion bash\n"
    "_simtfuzz()\n"
    "{\n"
    "    local line=${COMP_LINE:0:COMP_POINT} word value option commands options valued arguments "
    "files\n"
    "    local words='' list='' names='' before='' breaks='' strip\n"
    "    local -a typed found\n"
    "    COMPREPLY=()\n"
    "    word=${line##*[[:space:]]}\n"
    "    read -ra typed <<<\"$line\"\n"
    "    [[ -n $word ]] && unset 'typed[-1]'\n";

static const char bash_middle[] =
    "    # The value of an option stands behind it, or behind = in the same word.\n"
    "    value=$word option=''\n"
    "    if [[ $word == --*=* ]]; then\n"
    "        option=${word%%=*} value=${word#*=} before=$option=\n"
    "    elif [[ ${#typed[@]} -gt 2 && \" $valued \" == *\" ${typed[-1]} \"* ]]; then\n"
    "        option=${typed[-1]}\n"
    "    fi\n"
    "    if [[ ${#typed[@]} -lt 2 ]]; then\n"
    "        words=\"$commands --help --version\"\n"
    "    elif [[ -n $option ]]; then\n"
    "        case ${typed[1]} in\n";

static const char bash_tail[] =
    "        esac\n"
    "    elif [[ $word == -* ]]; then\n"
    "        words=$options\n"
    "    else\n"
    "        names=$files\n"
    "        [[ ${#typed[@]} -eq 2 ]] && words=$arguments\n"
    "    fi\n"
    "    if [[ -n $list && $value == *,* ]]; then\n"
    "        before+=${value%,*}, value=${value##*,}\n"
    "    fi\n"
    "    mapfile -t found < <(compgen -W \"$words\" -- \"$value\")\n"
    "    if [[ -n $names ]]; then\n"
    "        mapfile -t -O ${#found[@]} found < <(compgen $names -- \"$value\")\n"
    "        compopt -o filenames 2>/dev/null\n"
    "    fi\n"
    "    [[ -n $list ]] && compopt -o nospace 2>/dev/null\n"
    "    # What stands before a : or = is a word of its own to readline.\n"
    "    [[ $COMP_WORDBREAKS == *:* ]] && breaks+=:\n"
    "    [[ $COMP_WORDBREAKS == *=* ]] && breaks+==\n"
    "    strip=\n"
    "    [[ -n $breaks ]] && strip=${word%\"${word##*[$breaks]}\"}\n"
    "    for value in \"${found[@]}\"; do\n"
    "        value=$before$value\n"
    "        COMPREPLY+=(\"${value#\"$strip\"}\")\n"
    "    done\n"
    "}\n"
    "complete -F _simtfuzz simtfuzz\n";

static void print_bash(FILE *out)
{
    fputs(bash_head, out);
    fputs("    commands='", out);
    put_command_names(out);
    fputs("'\n    case ${typed[1]-} in\n", out);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        enum cli_command_id id = (enum cli_command_id)i;
        fprintf(out, "    %s)\n        options='", cli_commands[i].name);
        put_bash_options(out, id, false);
        fputs("'\n        valued='", out);
        put_bash_options(out, id, true);
        fprintf(out, "'\n        files=%s arguments='",
                command_takes_files(&cli_commands[i]) ? "-f" : "");
        put_first_arguments(out, id);
        fputs("'\n        ;;\n", out);
    }
    fputs("    esac\n", out);
    fputs(bash_middle, out);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "        %s)\n            case $option in\n", cli_commands[i].name);
        put_bash_values(out, (enum cli_command_id)i);
        fputs("            esac\n            ;;\n", out);
    }
    fputs(bash_tail, out);
}

/* ---- zsh ---- */

/* Within single quotes and within [...] or a list of arguments of _arguments. */
static void put_zsh_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\'", out);
        else if (strchr("[]:\\", *text))
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void put_zsh_action(FILE *out, const struct cli_option *option)
{
    const struct value_words *values = words_of(option);
    if (!option->argument)
        return;
    fputc(':', out);
    put_zsh_text(out, option->argument);
    fputc(':', out);
    if (values) {
        fputs(values->list ? "_sequence compadd -" : "(", out);
        for (size_t i = 0; values->words[i]; i++) {
            fputs(values->list || i ? " " : "", out);
            put_zsh_text(out, values->words[i]);
        }
        fputs(values->list ? "" : ")", out);
    } else if (takes_file(option)) {
        fputs("_files", out);
    } else if (takes_folder(option)) {
        fputs("_files -/", out);
    } else {
        fputc(' ', out);
    }
}

static void put_zsh_option(FILE *out, const struct cli_option *option)
{
    fputs(" \\\n            ", out);
    if (option->letter)
        fprintf(out, "'(-%c --%s)'{-%c,--%s}'", option->letter, option->name, option->letter,
                option->name);
    else
        fprintf(out, "'--%s", option->name);
    fputc('[', out);
    put_zsh_text(out, option->sentence);
    fputc(']', out);
    put_zsh_action(out, option);
    fputc('\'', out);
}

static void print_zsh(FILE *out)
{
    fputs("#compdef simtfuzz\n# made by: simtfuzz help --completion zsh\n_simtfuzz() {\n"
          "    local -a commands=(\n",
          out);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "        '%s:", cli_commands[i].name);
        put_zsh_text(out, cli_commands[i].sentence);
        fputs("'\n", out);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n"
          "        return\n    fi\n    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n",
          out);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        enum cli_command_id id = (enum cli_command_id)i;
        fprintf(out, "    %s)\n        _arguments", cli_commands[i].name);
        for (size_t o = 0; o < option_count; o++)
            if (option_is_on(&option_table[o], id))
                put_zsh_option(out, &option_table[o]);
        if (command_takes_files(&cli_commands[i])) {
            fputs(" \\\n            '*:file:_files'", out);
        } else if (cli_commands[i].most != 0) {
            fputs(" \\\n            '1:argument:(", out);
            put_first_arguments(out, id);
            fputs(")' '*: : '", out);
        }
        fputs("\n        ;;\n", out);
    }
    fputs("    esac\n}\n_simtfuzz \"$@\"\n", out);
}

/* ---- fish ---- */

static void put_fish_text(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

static void put_fish_option(FILE *out, const char *command, const struct cli_option *option)
{
    const struct value_words *values = words_of(option);
    fprintf(out, "complete -c simtfuzz -n '__fish_seen_subcommand_from %s' -l %s", command,
            option->name);
    if (option->letter)
        fprintf(out, " -s %c", option->letter);
    if (takes_file(option)) {
        fputs(" -r -F", out);
        if (takes_preset(option->argument)) {
            fputs(" -a '", out);
            put_preset_names(out);
            fputs("'", out);
        }
    } else if (takes_folder(option)) {
        fputs(" -x -a '(__fish_complete_directories)'", out);
    } else if (option->argument) {
        fputs(" -x", out);
    }
    if (values) {
        fputs(values->list ? " -a '(__fish_append , " : " -a '", out);
        put_words(out, values->words);
        fputs(values->list ? ")'" : "'", out);
    }
    fputs(" -d ", out);
    put_fish_text(out, option->sentence);
    fputc('\n', out);
}

static void print_fish(FILE *out)
{
    fputs("# fish completion for simtfuzz, made by: simtfuzz help --completion fish\n"
          "complete -c simtfuzz -f\n",
          out);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        const struct cli_command *command = &cli_commands[i];
        enum cli_command_id id = (enum cli_command_id)i;
        fprintf(out, "complete -c simtfuzz -n __fish_use_subcommand -a %s -d ", command->name);
        put_fish_text(out, command->sentence);
        fputc('\n', out);
        for (size_t o = 0; o < option_count; o++)
            if (option_is_on(&option_table[o], id))
                put_fish_option(out, command->name, &option_table[o]);
        if (command_takes_files(command)) {
            fprintf(out, "complete -c simtfuzz -n '__fish_seen_subcommand_from %s' -F\n",
                    command->name);
        } else if (command->most != 0) {
            fprintf(out, "complete -c simtfuzz -n '__fish_seen_subcommand_from %s' -a '",
                    command->name);
            put_first_arguments(out, id);
            fputs("'\n", out);
        }
    }
}

int cli_print_completion(const struct cli *cli, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        print_bash(stdout);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(stdout);
    else if (strcmp(shell, "fish") == 0)
        print_fish(stdout);
    else
        return cli_misuse(cli, "--completion: there is no '%s' (there are: bash zsh fish)", shell);
    return CLI_OK;
}
