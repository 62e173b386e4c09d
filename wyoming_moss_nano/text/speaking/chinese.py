"""Chinese, as it is spoken on the mainland."""

import re
from typing import Final

from .language import Language, Noun, Signs, currencies, nouns
from .numerals import Numerals, Rulesets

UNITS: Final = nouns("""
    W = 瓦
    kW = 千瓦
    MW = 兆瓦
    Wh = 瓦时
    kWh = 千瓦时
    MWh = 兆瓦时
    V = 伏
    mV = 毫伏
    kV = 千伏
    A = 安
    mA = 毫安
    Ah = 安时
    mAh = 毫安时
    Ω = 欧姆
    Hz = 赫兹
    kHz = 千赫
    MHz = 兆赫
    GHz = 吉赫
    Pa = 帕
    hPa = 百帕
    kPa = 千帕
    bar = 巴
    mbar = 毫巴
    psi = 磅每平方英寸
    mm = 毫米
    cm = 厘米
    m = 米
    km = 公里
    mi = 英里
    ft = 英尺
    m² m2 = 平方米
    km² = 平方公里
    m³ m3 = 立方米
    L l = 升
    ml mL = 毫升
    m/s = 米每秒
    km/h = 公里每小时
    mph = 英里每小时
    kn = 节
    mm/h = 毫米每小时
    L/min = 升每分钟
    m³/h = 立方米每小时
    μg = 微克
    mg = 毫克
    g = 克
    kg = 千克
    lb = 磅
    μg/m³ μg/m3 = 微克每立方米
    mg/m³ mg/m3 = 毫克每立方米
    ppm = P P M
    ppb = P P B
    lx = 勒克斯
    lm = 流明
    W/m² = 瓦每平方米
    dB = 分贝
    dBm = 分贝毫瓦
    B = 字节
    kB KB = 千字节
    MB = 兆字节
    GB = 吉字节
    TB = 太字节
    kB/s KB/s = 千字节每秒
    MB/s = 兆字节每秒
    GB/s = 吉字节每秒
    Mbit/s Mbps = 兆比特每秒
    Gbit/s = 吉比特每秒
    rpm = 转每分钟
    °C = 摄氏度
    °F = 华氏度
    ° = 度
    K = 开尔文
    ms = 毫秒
    s = 秒
    min = 分钟
    h = 小时
    d = 天
""")

CURRENCIES: Final = currencies("""
    ¥ ￥ CNY RMB = 元
    € EUR = 欧元
    $ USD US$ = 美元
    £ GBP = 英镑
""")
_CHINESE_DATE: Final = re.compile(r"(\d{4})\s?年(?:\s?(\d{1,2})\s?月)?(?:\s?(\d{1,2})\s?([日号]))?")
_PERCENT: Final = re.compile(r"([-−]?)(\d+(?:\.\d+)?)\s?[%％]")
_TWO: Final = re.compile(
    r"(?<![\d.,])2(?=\s?(?:个|点钟|小时|天|次|杯|盏|台|位|条|张|本|周|年|半|度电))"
)
_TEL: Final = re.compile(r"(?<!\d)1\d{10}(?!\d)|(电话|号码|密码|验证码)([是为：: ]*)(\d{3,})")
_MONTH_DAY: Final = re.compile(r"(?<!\d)(\d{1,2})\s?月\s?(\d{1,2})\s?([日号])")
_FRACTION: Final = re.compile(r"(?<![\d/.,])(\d{1,3})/(\d{1,3})(?![\d/.,])")
_SPACED: Final = re.compile(r"(?<=[\u3400-\u9fff，。]) (?=[\u3400-\u9fff])")
_START_OF_FIGURE: Final = re.compile(r"(?<=[\u3400-\u9fff])(?=[-−+$€¥£]?\d|[A-Za-z])")
_END_OF_FIGURE: Final = re.compile(r"(?<=[0-9A-Za-z°%³²])(?=[\u3400-\u9fff])")


class Chinese:
    """The rules that only Chinese has."""

    def __init__(self, numerals: Numerals) -> None:
        self._numerals = numerals

    def apart(self, text: str) -> str:
        """Set figures apart from ideographs, which common rules take for letters of one word."""
        return _END_OF_FIGURE.sub(" ", _START_OF_FIGURE.sub(" ", text))

    def early(self, text: str) -> str:
        """Apply what common rules would take for something else."""
        text = _CHINESE_DATE.sub(self._chinese_date, text)
        text = _MONTH_DAY.sub(self._month_day, text)
        text = _FRACTION.sub(self._fraction, text)
        text = _TEL.sub(self._telephone, text)
        text = re.sub(r"(\d)\s?[-–~～]\s?(?=\d{1,3}(?:\.\d+)?\s?[%％])", r"\1%到", text)
        text = _PERCENT.sub(self._percent, text)
        return _TWO.sub("两", text)

    def last(self, text: str) -> str:
        """Close the gaps between words that were figures."""
        return _SPACED.sub("", text.replace("&", "和"))

    def _percent(self, found: re.Match[str]) -> str:
        minus = "负" if found[1] else ""
        return f"{minus}百分之{self._numerals.number(found[2])}"

    def _chinese_date(self, found: re.Match[str]) -> str:
        said = f"{self._year(found[1])}年"
        if found[2]:
            said += f"{self._numerals.cardinal(str(int(found[2])))}月"
        if found[3]:
            said += f"{self._numerals.cardinal(str(int(found[3])))}{found[4]}"
        return said

    def _month_day(self, found: re.Match[str]) -> str:
        month, day = (self._numerals.cardinal(str(int(found[i]))) for i in (1, 2))
        return f"{month}月{day}{found[3]}"

    def _fraction(self, found: re.Match[str]) -> str:
        return f"{self._numerals.cardinal(found[2])}分之{self._numerals.cardinal(found[1])}"

    def _year(self, digits: str) -> str:
        return self._numerals.digits(digits)

    def _telephone(self, found: re.Match[str]) -> str:
        # on the telephone 1 is yao, so that nobody takes it for 7
        digits = self._numerals.digits(found[3] or found[0]).replace("一", "幺")
        return f"{found[1]}{found[2]}{digits}" if found[1] else digits

    def date(self, day: str, month: int, year: str, _before: str) -> str:
        """Return a date."""
        cardinal = self._numerals.cardinal
        said = f"{cardinal(str(month))}月{cardinal(day)}日"
        return f"{self._year(year)}年{said}" if year else said

    def time(self, hours: str, minutes: str, seconds: str) -> str:
        """Return a time of 24 hours."""
        hour = "两" if hours == "2" else self._numerals.cardinal(hours)
        said = f"{hour}点"
        if minutes == "00" and not seconds.strip("0"):
            return said + ("整" if minutes == "00" else "")
        zero = "零" if minutes[0] == "0" and minutes != "00" else ""
        said += f"{zero}{self._numerals.cardinal(str(int(minutes)))}分"
        return said + (
            f"{self._numerals.cardinal(str(int(seconds)))}秒" if seconds.strip("0") else ""
        )


def chinese() -> Language:
    """Return Chinese."""
    rulesets = Rulesets(
        alone="spellout-cardinal",
        masculine="spellout-cardinal",
        year="spellout-numbering-year-digits",
    )
    numerals = Numerals("zh", rulesets, ",", "点", digit_fractions=True)
    rules = Chinese(numerals)
    return Language(
        code="zh",
        numerals=numerals,
        signs=Signs(
            minus="负",
            plus="加",
            to="到",
            per="每",
            and_="",
            at="at",
            dot="点",
            point="点",
            slash="斜杠",
            about="约",
            less="小于",
            more="大于",
            at_most="最多",
            at_least="至少",
            plus_minus="正负",
            percent=Noun("百分比", "百分比"),
            joint="",
        ),
        units=UNITS,
        currencies=CURRENCIES,
        few=lambda _whole, _fraction: False,
        months={"月": 1},
        date=rules.date,
        time=rules.time,
        first=(rules.apart,),
        early=(rules.early,),
        last=(rules.last,),
    )
