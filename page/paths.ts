/** The server's requests and answers at each of its addresses; `npm run types` makes api.d.ts from its OpenAPI. */

import type { paths } from "./api";

export type Path = keyof paths;

/** The POST of a path, or else its GET. */
type Operation<P extends Path> = P extends Path ? (paths[P] extends { post: infer Post } ? Post : paths[P]["get"]) : never;
type Json<Part> = Part extends { content: { "application/json": infer Value } } ? Value : never;

/** The body of a request. */
export type Asked<P extends Path> = Operation<P> extends { requestBody: infer Body } ? Json<Body> : never;

/** What comes back if all is well. */
export type Answered<P extends Path> = Operation<P> extends { responses: { 200: infer Answer } } ? Json<Answer> : never;

/** The query parameters of the address. */
export type Query<P extends Path> = Operation<P> extends { parameters: { query?: infer Named } } ? Named : never;
