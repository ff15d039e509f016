/*
 * serve - `kar-sim serve`: a simulated cluster behind HTTPS, for kubectl and for kar-controllers.
 */
#ifndef SIM_SERVE_H
#define SIM_SERVE_H

/* @argv[0] is "serve". Runs until SIGTERM or SIGINT; returns the exit status. */
int sim_serve_command(int argc, char **argv);

#endif
