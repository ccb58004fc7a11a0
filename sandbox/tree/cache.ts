import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where downloads and builds are kept between clones: XDG Base Directory Specification, `$XDG_CACHE_HOME`. */
export const cacheFolder = (env: NodeJS.ProcessEnv = process.env): string =>
  join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'ovn-udn');
