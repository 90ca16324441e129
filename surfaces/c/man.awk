# Manual pages (section 3) of the functions in lanecrypt.h, and lanecrypt(3) of what all of them share:
#
#     awk -v folder=DIR -v version=VERSION -f man.awk lanecrypt.h
#
# Takes from the header: a comment of several lines is the text of the declarations directly behind it,
# or belongs to all functions up to the next title (`/* ---- Title ---- */`) if a blank line follows.

function escaped(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    if (text ~ /^[.']/) text = "\\&" text
    return text
}

# The text of a comment, without its signs.
function comment_line(line) {
    sub(/^[ \t]*\/?\*+\/?[ ]?/, "", line)
    sub(/[ \t]*\*\/[ \t]*$/, "", line)
    return line
}

# The first sentence, as the line of NAME.
function summary(text) {
    gsub(/\n/, " ", text)
    sub(/^ +/, "", text)
    sub(/[.:;]( .*)?$/, "", text)
    if (text ~ /^[A-Z][A-Z]/) return text
    return tolower(substr(text, 1, 1)) substr(text, 2)
}

function head(file, name, line) {
    printf ".TH %s 3 \"\" \"Lanecrypt %s\" \"Lanecrypt for C\"\n", toupper(name), version >file
    printf ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.nf\n", name, escaped(line) >file
    printf "#include <lanecrypt.h>\n" >file
}

function body(file, text,    lines, count, at) {
    printf ".nf\n" >file
    count = split(text, lines, "\n")
    for (at = 1; at <= count; at++) printf "%s\n", escaped(lines[at]) >file
    printf ".fi\n" >file
}

function page(declaration, text,    name, file, also) {
    name = declaration
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    sub(/^LC_CHECK /, "", declaration)
    file = folder "/" name ".3"
    head(file, name, summary(text))
    printf "\n%s\n.fi\n.SH DESCRIPTION\n", escaped(declaration) >file
    body(file, text)
    if (shared != "") {
        printf ".SH NOTES\n" >file
        body(file, shared)
    }
    also = text ~ /^The same/ ? sprintf(".BR %s (3),\n", names[functions]) : ""
    printf ".SH SEE ALSO\n%s.BR lanecrypt (3)\n", also >file
    close(file)
    names[++functions] = name
    is_taken = 1
}

/^\/\* ---- / { shared = text = ""; next }

# A comment.
!in_comment && /^\/\*/ { in_comment = 1; text = ""; is_taken = 0 }
in_comment {
    line = comment_line($0)
    if ($0 !~ /^\/\*$/ && $0 !~ /^ \*\/$/) text = text (text == "" ? "" : "\n") line
    if (/\*\//) {
        in_comment = 0
        if (overview == "") { overview = text; text = "" }
    }
    next
}

# A declaration: up to its semicolon.
/^(LC_CHECK )?[a-z_0-9 ]+[ *]lc_[a-z0-9_]+\(/ { in_declaration = 1; declaration = "" }
in_declaration {
    line = $0
    sub(/^ +/, "    ", line)
    declaration = declaration (declaration == "" ? "" : "\n") line
    if (/;/) {
        in_declaration = 0
        sub(/;.*/, ";", declaration)
        page(declaration, text)
    }
    next
}

/^$/ {
    if (text != "" && !is_taken) shared = shared (shared == "" ? "" : "\n\n") text
    text = ""
    next
}

# Types, and what the preprocessor reads.
{ text = "" }

END {
    file = folder "/lanecrypt.3"
    head(file, "lanecrypt", "small cryptographic requests, fast")
    printf "\ncc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs lanecrypt)\n.fi\n.SH DESCRIPTION\n" >file
    sub(/^[^\n]*\n/, "", overview)
    body(file, overview)
    printf ".SH SEE ALSO\n" >file
    for (at = 1; at <= functions; at++) printf ".BR %s (3)%s\n", names[at], (at < functions ? "," : "") >file
    close(file)
    # A function whose name was not understood has no page.
    if (functions < 10 || overview == "") exit 1
}
