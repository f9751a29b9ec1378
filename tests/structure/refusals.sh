#!/usr/bin/env bash
# What readers can tell of a wrong text is provoked: each message in the sources of readers and checkers stands in a row
# of oracle/refusals, which campaigns ask, or in refusals.txt, with the reason why no text provokes it. A message is a
# string of words; what printf puts into it may be anything.
set -u
cd "${1:?source directory}" || exit 2
perl -e '
    use strict;
    use warnings;
    sub slurp {
        open my $file, "<", $_[0] or die "$_[0]: $!\n";
        local $/;
        return scalar <$file>;
    }
    sub strings { # of a source, without its comments, neighbours joined
        my $text = slurp(shift);
        $text =~ s/\x27\\?"\x27/0/g;
        $text =~ s{("(?:[^"\\]|\\.)*")|/\*.*?\*/}{$1 // ""}gse;
        $text =~ s/"\s*\n\s*"//g;
        return map { s/\\n/\n/gr =~ s/\\(.)/$1/gr } $text =~ /"((?:[^"\\]|\\.)*)"/g;
    }
    my ($rows, %argued, %used, %seen) = (join("\n", map { strings($_) } glob "oracle/refusals/refusals_*.c"));
    my ($told, $failed) = (0, 0);
    for (split /\n/, slurp("tests/structure/refusals.txt")) {
        next if /^(#|$)/;
        /^(.*\S) +-- \S.*$/ or die "refusals.txt: \"$_\" has no reason\n";
        $argued{$1} = 1;
    }
    for my $file (glob "engine/language/{ast_check*,lex,parse*}.c engine/ptx/ptx_{check*,lex,parse*}.c " .
            "engine/input/{input,ptx_fields,ptx_kernel,ptx_kernel_text,ptx_settings,ptx_textures}.c " .
            "engine/litmus/litmus_{condition,parse,ptx*}.c engine/host/host_{check,parse,words}.c engine/forms/{cfg,lower_cfg,normalise,predicate,predicate_stm,well_formed}.c " .
            "engine/subjects/forms.c engine/to_ptx/{lower_ptx,lower_ptx_blocks,lower_ptx_stm,ptx_flow,ptx_inject,ptx_structure}.c engine/base/reader.c") {
        for my $message (strings($file)) {
            next if $message !~ /[a-z%\x27`] [a-z%\x27`]/ || $message =~ /^ |\n/ || $seen{$message}++;
            my $pattern = join ".*?", map { quotemeta } split /%[-.*0-9]*(?:llu|llx|zu|[udscx])/, $message, -1;
            if ($argued{$message}) {
                $used{$message} = 1;
            } elsif ($rows =~ /$pattern/) {
                $told++;
            } else {
                print "$file: \"$message\" is in no row of oracle/refusals\n";
                $failed = 1;
            }
        }
    }
    for (grep { !$used{$_} } sort keys %argued) {
        print "refusals.txt: no reader tells \"$_\"\n";
        $failed = 1;
    }
    printf "%d messages are provoked, %d are not, for reasons\n", $told, scalar keys %used;
    exit $failed;
'
