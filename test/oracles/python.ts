/**
 * A Python program with nothing but the standard library, without looking for other packages, which takes a fifth of its start. Threads by
 * `threading`: `concurrent.futures` loads as much again as all else that clients need.
 */
export const python = (program: string, ...args: readonly string[]): string[] => [
  ...['python3', '-I', '-S', '-c', program],
  ...args,
];
