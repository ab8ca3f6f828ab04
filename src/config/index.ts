export { type Config, ConfigError, createConfig } from './config.js';
export { readEnvironment } from './env.js';
