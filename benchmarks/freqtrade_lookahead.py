"""freqtrade's look-ahead analysis of one strategy, without a network; pipeline.py runs it in freqtrade's environment.

    python benchmarks/freqtrade_lookahead.py FOLDER TRADES

FOLDER holds `BTC_USDT-15m.feather` and `strategy.py` with the class `Beside`. Prints one line of JSON: the columns that
freqtrade names, its false entries and exits among how many trades, and the seconds of processor time.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from pathlib import Path
from typing import Any

PAIR = "BTC/USDT"
MARKET = {
    "id": "BTCUSDT",
    "symbol": PAIR,
    "base": "BTC",
    "quote": "USDT",
    "spot": True,
    "active": True,
    "precision": {"price": 1e-8, "amount": 1e-8, "cost": 1e-8},
    "limits": {"amount": {"min": None, "max": None}, "price": {}, "cost": {"min": None, "max": None}, "leverage": {}},
    "info": {},
}


def configuration(folder: Path, trades: int) -> dict[str, Any]:
    from freqtrade.enums import CandleType, RunMode

    price = {"price_side": "other", "use_order_book": False}
    return {
        "runmode": RunMode.BACKTEST,
        "exchange": {"name": "binance", "pair_whitelist": [PAIR], "pair_blacklist": []},
        "pairs": [PAIR],
        "pairlists": [{"method": "StaticPairList"}],
        "candle_type_def": CandleType.SPOT,
        "trading_mode": "spot",
        "dataformat_ohlcv": "feather",
        "datadir": folder,
        "user_data_dir": folder,
        "strategy": "Beside",
        "strategy_path": str(folder),
        "timeframe": "15m",
        "timerange": "20240101-20240301",
        "stake_currency": "USDT",
        "stake_amount": 10_000,
        "dry_run": True,
        "dry_run_wallet": 10**9,
        "tradable_balance_ratio": 1.0,
        "max_open_trades": -1,
        "fee": 0.001,
        "entry_pricing": price,
        "exit_pricing": price,
        "order_types": {"entry": "market", "exit": "market", "stoploss": "market", "stoploss_on_exchange": False},
        "backtest_cache": "none",
        "minimum_trade_amount": 1,
        "targeted_trade_amount": trades,
    }


def main() -> None:
    from freqtrade.optimize.analysis.lookahead import LookaheadAnalysis
    from freqtrade.resolvers import ExchangeResolver
    from freqtrade.util import get_progress_tracker

    logging.disable(logging.CRITICAL)
    folder, trades = Path(sys.argv[1]), int(sys.argv[2])
    config = configuration(folder, trades)
    analysis = LookaheadAnalysis(config, {"name": "Beside"})
    exchange = ExchangeResolver.load_exchange(config, validate=False)
    exchange._markets = {PAIR: MARKET}  # instead of asking the exchange
    analysis.exchange = exchange
    began = time.process_time()
    with get_progress_tracker() as progress:
        analysis.start(progress)
    found = analysis.current_analysis
    said = {
        "columns": found.false_indicators,
        "entries": found.false_entry_signals,
        "exits": found.false_exit_signals,
        "trades": found.total_signals,
        "seconds": time.process_time() - began,
    }
    print(json.dumps(said))


if __name__ == "__main__":
    main()
