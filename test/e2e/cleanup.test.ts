/** Needs root and `make build`. */
import { cleanup } from './support/cleanup.ts';

cleanup({ name: 'test-cleanup' });
