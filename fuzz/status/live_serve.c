/*
 * live_serve.c - three pages: what `status` says, anew every two seconds; the same as JSON; the report.
 *
 * Requests are short and answered one after the other. A page may be asked for by this machine's own names only, so
 * that a page from elsewhere, in the same browser, cannot read it by giving its own name this address.
 */
#include "fuzz/status/live_serve.h"

#include "fuzz/out/markup.h"
#include "fuzz/report/report.h"
#include "fuzz/status/status.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REQUEST_MOST = 8192, WAIT_SECONDS = 2, REFRESH_SECONDS = 2, SHOWN_FINDINGS = 50 };

/* ---- pages ---- */

static void put_page_head(const char *title, bool again, FILE *out)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n",
          out);
    if (again)
        fprintf(out, "<meta http-equiv=\"refresh\" content=\"%d\">\n", REFRESH_SECONDS);
    fputs("<title>", out);
    markup_text(out, title);
    fputs("</title>\n</head>\n<body>\n<h1>", out);
    markup_text(out, title);
    fputs("</h1>\n", out);
}

/* What `status` prints, as text or as JSON lines. False: the database does not say. */
static bool put_status(struct cli *cli, struct db *db, bool json, FILE *out)
{
    struct overview status;
    if (status_read(&cli->arena, db, 0, &status) != DB_OK)
        return false;
    status.utf8 = true;
    cli->options.json = json;
    cli->argument_count = 0;
    status_print(cli, &status, out);
    return true;
}

static bool put_live(struct cli *cli, struct db *db, FILE *out)
{
    char *text = NULL;
    size_t length = 0;
    FILE *inner = open_memstream(&text, &length);
    if (!inner)
        return false;
    bool good = put_status(cli, db, false, inner);
    fclose(inner);
    put_page_head("simtfuzz, live", true, out);
    fputs("<pre>", out);
    markup_text(out, good ? text : "The database does not answer just now.");
    fputs("</pre>\n<p><a href=\"/report\">Report</a> <a href=\"/status.json\">JSON</a></p>\n"
          "</body>\n</html>\n",
          out);
    free(text);
    return true;
}

/* As `report --html` makes it, without running findings again. */
static bool put_report(struct cli *cli, struct db *db, FILE *out)
{
    struct report *report = ARENA_NEW(&cli->arena, struct report);
    struct report_options options = {.db_name = cli->options.db, .findings = SHOWN_FINDINGS};
    struct arena scratch;
    if (arena_init(&scratch, (size_t)1 << 28) != 0)
        return false;
    bool good = report_read(&cli->arena, &scratch, db, &options, report) == DB_OK;
    if (good)
        report_write_html(&cli->arena, report, out);
    arena_destroy(&scratch);
    return good;
}

static bool put_json(struct cli *cli, struct db *db, FILE *out)
{
    return put_status(cli, db, true, out);
}

static const struct {
    const char *path, *type;
    bool (*put)(struct cli *cli, struct db *db, FILE *out);
    bool own_policy; /* the page says itself what it may load */
} pages[] = {
    {"/", "text/html; charset=utf-8", put_live, false},
    {"/status.json", "application/x-ndjson", put_json, false},
    {"/report", "text/html; charset=utf-8", put_report, true},
};

/* ---- an answer ---- */

static void send_all(int client, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(client, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return;
        bytes += sent;
        length -= (size_t)sent;
    }
}

static void answer(struct cli *cli, int client, const char *status, const char *type,
                   const char *body, size_t length, bool own_policy, bool head_only)
{
    const char *head = arena_printf(
        &cli->arena,
        "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n"
        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: "
        "no-referrer\r\n%s\r\n",
        status, type, length,
        own_policy ? ""
                   : "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n");
    send_all(client, head, strlen(head));
    if (!head_only)
        send_all(client, body, length);
}

static void refuse(struct cli *cli, int client, const char *status)
{
    const char *body = arena_printf(&cli->arena, "%s\n", status);
    answer(cli, client, status, "text/plain; charset=utf-8", body, strlen(body), false, false);
}

static void answer_page(struct cli *cli, int client, size_t page, bool head_only)
{
    struct db_message message = {.text = ""};
    struct db *db = NULL;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    bool good = out && db_open(cli->options.db, DB_READONLY, &message, &db) == DB_OK &&
                pages[page].put(cli, db, out);
    if (out)
        fclose(out);
    db_close(db);
    if (good)
        answer(cli, client, "200 OK", pages[page].type, text, length, pages[page].own_policy,
               head_only);
    else
        refuse(cli, client, "503 The campaign has not written anything yet");
    free(text);
}

/* ---- a question ---- */

/* The value of a header, up to its line's end; NULL: there is none. */
static const char *header(char *request, const char *name)
{
    size_t length = strlen(name);
    for (char *line = strstr(request, "\r\n"); line; line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, name, length) == 0 && line[2 + length] == ':')
            return line + 3 + length + strspn(line + 3 + length, " ");
    return NULL;
}

/* Whether it was asked for as something that only this machine is. */
static bool is_local_name(const char *host)
{
    static const char *const names[] = {"localhost", "127.", "[::1]"};
    for (size_t i = 0; host && i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncasecmp(host, names[i], length) != 0)
            continue;
        host += length;
        host += names[i][length - 1] == '.' ? strspn(host, "0123456789.") : 0;
        return *host == ':' || *host == '\r';
    }
    return false;
}

/* The head of the request, zero-terminated; false: it does not come, or is too long. */
static bool read_request(int client, char *request)
{
    size_t length = 0;
    while (length < REQUEST_MOST) {
        ssize_t got = recv(client, request + length, REQUEST_MOST - length, 0);
        if (got <= 0)
            return false;
        length += (size_t)got;
        request[length] = '\0';
        if (strstr(request, "\r\n\r\n"))
            return true;
    }
    return false;
}

static void serve_client(struct cli *cli, int client)
{
    char request[REQUEST_MOST + 1] = "";
    if (!read_request(client, request)) {
        refuse(cli, client, "400 Bad Request");
        return;
    }
    bool head_only = strncmp(request, "HEAD ", 5) == 0;
    if (!head_only && strncmp(request, "GET ", 4) != 0) {
        refuse(cli, client, "405 Method Not Allowed");
        return;
    }
    if (!is_local_name(header(request, "Host"))) {
        refuse(cli, client, "403 Forbidden");
        return;
    }
    const char *path = request + (head_only ? 5 : 4);
    size_t length = strcspn(path, " ?\r\n");
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (strlen(pages[i].path) == length && strncmp(pages[i].path, path, length) == 0) {
            answer_page(cli, client, i, head_only);
            return;
        }
    refuse(cli, client, "404 Not Found");
}

static void serve(struct cli *cli, int server)
{
    const struct timeval wait = {.tv_sec = WAIT_SECONDS};
    for (;;) {
        int client = accept(server, NULL, NULL);
        if (client < 0 && errno != EINTR && errno != ECONNABORTED)
            _exit(CLI_FAULT);
        if (client < 0)
            continue;
        size_t mark = arena_mark(&cli->arena);
        setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
        setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
        serve_client(cli, client);
        close(client);
        arena_release(&cli->arena, mark);
    }
}

/* ---- listening ---- */

struct place {
    struct sockaddr_storage address;
    socklen_t length;
};

/* "127.0.0.1:8080", "[::1]:8080" */
static bool parse_place(struct cli *cli, const char *text, struct place *place)
{
    const char *colon = strrchr(text, ':');
    uint64_t port;
    if (!colon || !cli_parse_u64(colon + 1, &port) || port > UINT16_MAX)
        return false;
    const char *host = arena_strndup(&cli->arena, text, (size_t)(colon - text));
    struct sockaddr_in *four = (struct sockaddr_in *)&place->address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&place->address;
    memset(place, 0, sizeof *place);
    if (strcmp(host, "[::1]") == 0) {
        six->sin6_family = AF_INET6;
        six->sin6_addr = in6addr_loopback;
        six->sin6_port = htons((uint16_t)port);
        place->length = sizeof *six;
        return true;
    }
    four->sin_family = AF_INET;
    four->sin_port = htons((uint16_t)port);
    place->length = sizeof *four;
    return inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
                     &four->sin_addr) == 1 &&
           ntohl(four->sin_addr.s_addr) >> 24 == 127;
}

static uint16_t port_of(int server)
{
    struct place place = {.length = sizeof place.address};
    if (getsockname(server, (struct sockaddr *)&place.address, &place.length) != 0)
        return 0;
    return ntohs(place.address.ss_family == AF_INET6
                     ? ((struct sockaddr_in6 *)&place.address)->sin6_port
                     : ((struct sockaddr_in *)&place.address)->sin_port);
}

static int listen_at(const struct place *place)
{
    const int yes = 1;
    int server = socket(place->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server < 0)
        return -1;
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(server, (const struct sockaddr *)&place->address, place->length) == 0 &&
        listen(server, 16) == 0)
        return server;
    int reason = errno;
    close(server);
    errno = reason;
    return -1;
}

int live_serve_start(struct cli *cli, const char *address, pid_t *process)
{
    struct place place;
    if (!parse_place(cli, address, &place))
        return cli_misuse(cli,
                          "--serve %s: an address of this machine and a port, as 127.0.0.1:8080 "
                          "or [::1]:8080; others are not served",
                          address);
    int server = listen_at(&place);
    if (server < 0) {
        cli_message(cli, "--serve %s: %s", address, strerror(errno));
        return CLI_FAULT;
    }
    cli_message(cli, "live at http://%.*s:%u/", (int)(strrchr(address, ':') - address), address,
                port_of(server));
    fflush(NULL);
    pid_t parent = getpid();
    *process = fork();
    if (*process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(CLI_OK);
        serve(cli, server);
    }
    close(server);
    if (*process < 0) {
        cli_message(cli, "--serve: %s", strerror(errno));
        return CLI_FAULT;
    }
    return CLI_OK;
}

void live_serve_stop(pid_t process)
{
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
}
