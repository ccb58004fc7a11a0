/**
 * The `code` of what was caught: errors of Node, of the addons and of this project have one. An error that comes from
 * another thread keeps its code, but not its class.
 */
export const codeOf = (error: unknown): string | undefined => {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code : undefined;
};
