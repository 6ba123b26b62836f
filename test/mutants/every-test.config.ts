import { defineConfig } from 'vitest/config';
import { everyTest } from '../../vitest.config.ts';

export default defineConfig({ test: everyTest });
